"""What the members of groups read of a topic, and how far they lag behind."""
