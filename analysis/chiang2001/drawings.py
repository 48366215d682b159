"""Pictures on request: Fig. 4 and Gantt charts, of any schedule."""

from analysis.drawings import DRAWINGS

__all__ = ["DRAWINGS"]
