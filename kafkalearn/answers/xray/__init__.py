"""What is in segment files: the question `xray`, and what it is answered from."""

from kafkalearn.answers.xray.question import xray

__all__ = ["xray"]
