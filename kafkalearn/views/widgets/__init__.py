"""What answers to the reader in a notebook: the player, controls, a progress bar."""

from kafkalearn.extras import require

require(__name__, "anywidget", "ipywidgets")
