"""``python -m sweep rerun FILE.nc``: a study once more, from its dataset alone, compared bit for bit."""
