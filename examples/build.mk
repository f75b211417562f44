PROGRAMS += quadrille-example-web
quadrille-example-web_OBJECTS := examples/server.o examples/site.o
