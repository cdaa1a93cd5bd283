"""The settings of a broker or a topic, as a broker answers them: their own, a topic's broker's, or the defaults."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kafkalearn.live.reading.asking import Asking
from kafkalearn.live.reading.brokers import refuse_error

TOPIC, BROKER = 2, 4  # the kinds of things whose settings are asked for


class ReadsSettings(Asking):
    """Settings, read."""

    def topic_settings(self, topic: str) -> dict[str, str]:
        """What is in force for a topic, by name: its own settings, and for the rest its broker's. Secrets are left out.

        Raises
        ------
        NoAnswer, Refused
            If no broker answers, there is no such topic, or its settings may not be seen.
        """
        answer = self._brokers.ask_any(self._askable(), "DescribeConfigs", _request(TOPIC, topic))
        return _given(answer, f"the settings of topic {topic!r}")

    def broker_settings(self, broker_id: int) -> dict[str, str]:
        """What is in force at a broker, by name. Secrets and what has no value are left out.

        Raises
        ------
        NoAnswer, Refused
            If the broker does not answer, or its settings may not be seen.
        """
        answer = self._ask(broker_id, "DescribeConfigs", _request(BROKER, str(broker_id)))
        return _given(answer, f"the settings of broker {broker_id}")


def _request(kind: int, name: str) -> dict[str, object]:
    return {"resources": [{"resourceType": kind, "resourceName": name, "configurationKeys": None}]}


def _given(answer: Mapping[str, Any], what: str) -> dict[str, str]:
    (result,) = answer["results"]
    refuse_error(result, what)
    return {
        each["name"]: each["value"]
        for each in result["configs"]
        if each["value"] is not None and not each["isSensitive"]
    }
