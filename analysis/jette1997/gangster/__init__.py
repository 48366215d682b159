"""The gangster display (Fig. 2): machine and jobs at a moment of a run, as text, in motion, as a picture."""
