"""The interface for notebooks: no command line, no files, plain values in, labelled arrays out."""
