"""The topic ``__transaction_state``: its records to the byte, and the transactions that they describe.

`decode_key` and `decode_value` read records of every version, `encode_key` and `encode_value` write them; `replay`
makes of records what the coordinator knows of each transactional id when it has loaded them.

>>> decode_key(encode_key("billing")), decode_value(None)
('billing', (None, None))
"""

from kafkalearn.transaction_log.codec import decode_key, decode_value, encode_key, encode_value
from kafkalearn.transaction_log.replay import replay

__all__ = ["decode_key", "decode_value", "encode_key", "encode_value", "replay"]
