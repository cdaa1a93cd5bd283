"""Records anew what a real Kafka answers: data/real-kafka, from which chapter 14 works where there is none.

    python3 -m tools.real_answers                       every question, and the topics that Spark reads
    python3 -m tools.real_answers 4.4                   the same of another release
    python3 -m tools.real_answers "lost record" topics  only these

Each answer is asked twice; one that is not the same both times is not written. It prints what has changed.
"""

from __future__ import annotations

import datetime
import json
import re
import sys
from typing import Any

from pyspark.sql import DataFrame

from kafkalearn.base.files import REPOSITORY
from kafkalearn.base.internal_topics import OFFSETS_TOPIC
from kafkalearn.live.errors import KafkaNotFetched, KafkaNotStarted
from kafkalearn.live.jars import find_release
from kafkalearn.live.questions import ORDERS, QUESTIONS, SIMULATED, Company, Shop, ask
from kafkalearn.live.questions import SHOP_PARTITIONS as PARTITIONS
from kafkalearn.releases.lines import DEFAULT_RELEASE
from kafkalearn.spark import company, real_topic
from kafkalearn.spark.session import get_spark
from tools.recordings import differences, text_of

FOLDER = REPOSITORY / "data" / "real-kafka"
SOURCE = re.compile(r"(recorded for this project on )[-0-9]+( from Apache Kafka )[.0-9]+")
TOPICS = "topics"
WORKING = "billing"  # the group whose member dies
ABOUT = (
    "What a real Kafka answered to the questions of kafkalearn.live.questions: nothing that differs from run to run. "
    "Written by python3 -m tools.real_answers."
)


def main(words: list[str]) -> int:
    """Ask what is named, or all; write what has changed and print it."""
    lines = [word for word in words if re.fullmatch(r"\d+\.\d+", word)]
    release = find_release(lines[0] if lines else DEFAULT_RELEASE)
    wanted = [word for word in words if word not in lines] or [*QUESTIONS, TOPICS]
    path = FOLDER / "answers.json"
    old = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {"answers": {}}
    answers = dict(old["answers"])
    for name in wanted:
        if name != TOPICS:
            answers[name] = asked_twice(name, release.line)
    new = {
        "about": ABOUT,
        "version": release.version,
        "recorded": datetime.date.today().isoformat(),
        "answers": {name: answers[name] for name in QUESTIONS if name in answers},
    }
    changed = differences(old["answers"], new["answers"])
    print("\n".join(changed) or "no answer has changed")
    if changed or old.get("version") != release.version:
        path.write_text(text_of(new, "answers"), encoding="utf-8")
        told = (FOLDER / "README.md").read_text(encoding="utf-8")
        source = SOURCE.sub(rf"\g<1>{new['recorded']}\g<2>{release.version}", told)
        (FOLDER / "README.md").write_text(source, encoding="utf-8")
    if TOPICS in wanted:
        record_topics(release.line)
        record_company(release.line)
    return 0


def asked_twice(name: str, line: str) -> Any:
    """An answer, if it is the same twice."""
    first, second = (json.loads(json.dumps(ask(name, line))) for _ in range(2))
    if first != second:
        sys.exit(f"kafkalearn: {name!r} was answered in two ways, so it is not a question to record: {first}, {second}")
    print(f"{name}: asked", flush=True)
    return first


def record_topics(line: str) -> None:
    """Write the topics of the shop, as Spark has read them, and what came later: see `RecordedTopics`."""
    spark, folder = get_spark(), FOLDER / TOPICS
    folder.mkdir(parents=True, exist_ok=True)
    with Shop(line) as shop:
        if shop.address is None:
            raise KafkaNotStarted(shop.asked)
        topics = real_topic.topics_of(spark, shop.address, shop.jars)
        topics.write(real_topic.shop_orders(spark), ORDERS)
        topics.write(real_topic.simulated_commits(spark), SIMULATED)
        shop.commit()
        real_topic.record(topics.read(SIMULATED, 1), folder / real_topic.file_of(SIMULATED))
        counts = {ORDERS: PARTITIONS, OFFSETS_TOPIC: shop.kafka.topics()[OFFSETS_TOPIC]}
        seen: dict[str, DataFrame] = {}

        def record_new(*names: str, part: str = "") -> None:
            for name in names:
                now = topics.read(name, counts[name]).cache()
                new = now.join(seen[name], ["partition", "offset"], "left_anti") if name in seen else now
                real_topic.record(new, folder / real_topic.file_of(name + part))
                seen[name] = now.select("partition", "offset")

        record_new(ORDERS, OFFSETS_TOPIC)
        topics.read(OFFSETS_TOPIC, counts[OFFSETS_TOPIC], real_topic.SUBSCRIBED).count()
        record_new(OFFSETS_TOPIC, part=f".{real_topic.OBSERVED}")
        shop.start_member(WORKING)
        record_new(OFFSETS_TOPIC, part=".1")
        shop.kill_member(WORKING)
        topics.write(real_topic.shop_orders(spark), ORDERS)
        record_new(ORDERS, OFFSETS_TOPIC, part=".2")
    print("topics: recorded")


def record_company(line: str) -> None:
    """Write what is needed to make the company's topics again, once they are: see `company.RemadeTopics`."""
    spark = get_spark()
    with Company(line) as broker:
        if broker.address is None:
            raise KafkaNotStarted(broker.asked)
        topics = company.company_topics(spark, broker.address, broker.jars)
        topics.write(company.company_orders(spark), ORDERS)
        broker.commit(company.company_commits(spark, company.ends_of(topics.read(ORDERS, company.PARTITION_COUNT))))
        recording = company.recording_of(spark, topics)
    lines = (f" {json.dumps(name)}: {json.dumps(value)}" for name, value in recording.items())
    text = ",\n".join(lines)
    (FOLDER / TOPICS / company.FILE).write_text(f"{{\n{text}\n}}\n", encoding="utf-8")
    print("the company's topics: recorded")


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except (KafkaNotFetched, KafkaNotStarted) as reason:
        sys.exit(f"kafkalearn: {reason}")
