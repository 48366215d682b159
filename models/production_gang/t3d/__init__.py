"""The Cray T3D of Livermore and its three schedulers: UNICOS MAX, DJM, and the laboratory's own (Jette 1997)."""
