"""The coordinator of a group: that of the classic protocol, and that of KIP-848."""
