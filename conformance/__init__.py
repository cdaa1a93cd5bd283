"""The same random questions to a real broker and to the simulators; a difference is cut down to its shortest case."""
