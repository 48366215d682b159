"""A local web page that shows a dataset: ``python -m analysis explore results/packing``.

The choice of the reader (`choice`), the points of the plot (`points`), their rerun (`rerun`) and
their pictures (`views`) do not depend on web pages; `plot`, `page` and `server` show them with Bokeh and
Panel, which the extra ``[explore]`` installs and no other module imports.
"""
