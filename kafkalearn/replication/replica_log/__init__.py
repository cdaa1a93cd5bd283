"""One replica's log on its disk: what is appended and cut, and which epoch begins where."""
