"""The settings of a topic, as its broker answers them: its own, its broker's, or the defaults."""

from __future__ import annotations

from kafkalearn.live.reading.asking import Asking
from kafkalearn.live.reading.brokers import refuse_error

TOPIC = 2  # the kind of thing whose settings are asked for


class ReadsSettings(Asking):
    """Settings, read."""

    def topic_settings(self, topic: str) -> dict[str, str]:
        """What is in force for a topic, by name: its own settings, and for the rest its broker's. Secrets are left out.

        Raises
        ------
        NoAnswer, Refused
            If no broker answers, there is no such topic, or its settings may not be seen.
        """
        resource = {"resourceType": TOPIC, "resourceName": topic, "configurationKeys": None}
        answer = self._brokers.ask_any(self._askable(), "DescribeConfigs", {"resources": [resource]})
        (result,) = answer["results"]
        refuse_error(result, f"the settings of topic {topic!r}")
        return {
            each["name"]: each["value"]
            for each in result["configs"]
            if each["value"] is not None and not each["isSensitive"]
        }
