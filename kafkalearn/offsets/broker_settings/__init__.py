"""The broker's settings of the group coordinator: meaning, default by release, and what another value changes.

>>> coordinator_settings(["2.2", "2.3"])[11]["setting"], coordinator_settings(["2.2", "2.3"])[11]["2.3"]
('group.max.session.timeout.ms', 1800000)
>>> effect_of("group.max.size")
[{'group.max.size': 2, 'three members join': 'the third: GROUP_MAX_SIZE_REACHED'}, \
{'group.max.size': 3, 'three members join': 'the third: NONE'}]
"""

from kafkalearn.offsets.broker_settings.catalog import coordinator_settings, effect_of, effects

__all__ = ["coordinator_settings", "effect_of", "effects"]
