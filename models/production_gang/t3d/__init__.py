"""Livermore's Cray T3D under its three schedulers: UNICOS MAX, DJM, and the laboratory's (Jette 1997)."""
