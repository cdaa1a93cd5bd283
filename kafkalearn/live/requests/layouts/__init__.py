"""The layouts of requests and their answers, as data, in every version that Kafka 4.3 speaks."""
