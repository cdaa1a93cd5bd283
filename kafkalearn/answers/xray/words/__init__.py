"""The answer to `xray` in words."""
