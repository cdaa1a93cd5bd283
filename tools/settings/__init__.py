"""Reads the settings of Kafka's releases from the released classes: kafkalearn/releases/settings_by_release.json.

Beside them it records what shows in the jars whether facts that were written by hand are true, for the tests: the
oldest Java that loads them, which classes they have, the oldest requests they know. That is the file
tests/vectors/versions/released-jars.json.

    python3 run.py settings              every release line that is recorded
    python3 run.py settings 3.9 4.3      only these, the others as they are recorded
    python3 run.py settings 4.3=4.3.2    the same for a newer patch; for a new line, once RELEASES has it

The jars are fetched into data/generated/jars, about 1 GB for all lines, and stay there. It prints what has changed.
Run again with the same releases it writes the same file, byte for byte.

Where the settings come from, by the Java programs in the folder above:

- ReadSettings reads the ConfigDef of ConsumerConfig, ProducerConfig, AdminClientConfig, KafkaConfig, LogConfig and
  GroupConfig by reflection, and that of DynamicConfig for the broker's settings that can only be set while it runs.
- The broker of 0.8.2, its topics, and the Scala consumer and producer up to 1.1 have no ConfigDef. ReadScalaSettings
  constructs their classes from properties that write down what is asked for, with which default and range. So these
  are read from the released classes, too, not from sources; a check that a constructor makes afterwards is not seen.

Not read: what a class checks beyond its ConfigDef, deprecation, the dynamic settings of users, clients and addresses,
Connect, Streams, MirrorMaker and the command line tools. A limit is kept if it is a range, a list of values or "not
empty"; lists of releases (inter.broker.protocol.version) are not. Notes and facts are written by hand: upgrades.json.
"""
