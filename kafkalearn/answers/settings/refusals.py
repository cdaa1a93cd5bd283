"""Which of somebody's settings a program of a release refuses to start with, each with the reason.

A value is held to the type and the limit of its class, then the values to each other.
"""

from __future__ import annotations

from collections.abc import Mapping

from kafkalearn.answers.settings.together import RULES, Given
from kafkalearn.answers.settings.values import PLACEHOLDER, Refusal, of_value, setting_of


def refusals(values: Mapping[str, str], side: str, release: str) -> tuple[Refusal, ...]:
    """Why a program of a release would not start with these settings; empty: nothing known speaks against it.

    Parameters
    ----------
    values : mapping of str to str
        Names and values, as a properties file has them.
    side : str
        Who reads them, a name in `kafkalearn.versions.settings.SIDES`.
    release : str
        A release line or a patch.

    Examples
    --------
    >>> consumer = {"group.protocol": "consumer", "session.timeout.ms": "30000"}
    >>> [each.text for each in refusals(consumer, "consumer", "4.0")]
    ["session.timeout.ms is the broker's business with group.protocol=consumer: leave it away"]
    >>> refusals(consumer, "consumer", "3.9"), refusals({"acks": "1"}, "producer", "4.3")
    ((), ())

    References
    ----------
    Apache Kafka 0.11 to 4.3, ``ConfigDef``, ``ProducerConfig.postProcessAndValidateIdempotenceConfigs``,
    ``KafkaProducer.configureDeliveryTimeout``, ``ConsumerConfig``, ``Heartbeat``; KIP-848.
    """
    known = {name: setting for name in values if (setting := setting_of(name, side, release)) is not None}
    found = [each for name, setting in known.items() for each in of_value(setting, values[name].strip(), release)]
    usable = {name: values[name].strip() for name in known if not PLACEHOLDER.search(values[name])}
    if not found:  # two values are compared only where each is one
        for rule in RULES.get(side, ()):
            found += rule(Given(usable, side, release))
    return tuple(found)
