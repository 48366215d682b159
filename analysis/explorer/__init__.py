"""A local web page to look into a dataset: ``python -m analysis explore results/packing``.

What is chosen (`choice`), what stands at each point (`points`), how it is run again (`rerun`, `remaking`) and
drawn (`sights`) know nothing of web pages; `plot`, `page` and `server` show it with hvPlot and Panel, which
the extra ``[explore]`` brings, and nothing else imports those.
"""
