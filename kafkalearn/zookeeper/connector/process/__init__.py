"""The process of a consumer: it starts, registers and listens, gets another session, ends."""
