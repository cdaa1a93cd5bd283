"""Fixed questions to a real Kafka, whose answers never change; `kafkalearn.real_answers` has them recorded."""

from kafkalearn.live.questions.asking import QUESTIONS, ask, ask_a_real_broker, ask_live

__all__ = ["QUESTIONS", "ask", "ask_a_real_broker", "ask_live"]
