"""Pictures on request."""

from analysis.paper import Drawing
from analysis.silva1999.drawings import grades, trace_diagram
from analysis.silva1999.figures import pe_time

DRAWINGS = {
    "trace_diagram": Drawing(
        trace_diagram.trace_diagram,
        trace_diagram.TRACE_DIAGRAM,
        "Fig. 1: the trace diagram of gang scheduling or Concurrent Gang over some slices, from time= on",
    ),
    "grades": Drawing(
        grades.grades,
        grades.GRADES,
        "grades of membership of a task that changes phase, up to time= (job= and task= name another one)",
    ),
    "pe_time": Drawing(
        pe_time.pe_time,
        pe_time.PE_TIMES,
        "use of the time of a PE under each scheduler of tasks, from one simulation of each",
    ),
}
