"""A group of old consumers and its ZooKeeper, shown: picture and words; and one scenario in three eras."""
