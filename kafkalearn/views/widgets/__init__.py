"""What answers to the reader in a notebook: the player, controls, a progress bar."""
