"""What the reader is asked to predict: what may be answered, what is so, and what stays closed until then."""

from kafkalearn.predictions.marking import marked
from kafkalearn.predictions.questions import Prediction, all_predictions

__all__ = ["Prediction", "all_predictions", "marked"]
