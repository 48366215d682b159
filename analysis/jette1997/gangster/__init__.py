"""The gangster display (Fig. 2): the machine and its jobs at a moment of a run, as text, in motion, as a picture."""
