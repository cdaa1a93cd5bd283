"""The coordinator of a classic group, request by request: picture and words."""
