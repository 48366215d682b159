"""The face for notebooks: no command line, no configuration files, plain values in, labelled arrays out."""
