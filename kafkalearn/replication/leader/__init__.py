"""The leader's side: what it appends, what followers fetch, who is in sync, and who waits."""
