import java.time.Duration;
import java.util.Collections;
import java.util.HashSet;
import java.util.Iterator;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import org.apache.kafka.clients.admin.AdminClient;
import org.apache.kafka.clients.admin.ConsumerGroupDescription;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;

/**
 * Two consumers of a topic with six partitions are closed and started again one after the other: first with the newer
 * protocol, then back with the classic one. After each step it prints what they speak, how many partitions each has and
 * of which type the group is; in the end how many of its records were read, and how many of them twice.
 */
public class RollingChange {
    private static final Duration A_MOMENT = Duration.ofMillis(20);
    private static final long PATIENCE_MS = 60000;
    private static final int PARTITIONS = 6;

    private static final Set read = new HashSet();
    private static int twice = 0;

    public static void main(String[] words) throws Exception {
        Properties common = new Properties();
        common.put("bootstrap.servers", words[0]);
        String topic = words[1];
        String group = words[2];
        AdminClient admin = AdminClient.create(common);
        String[] spoken = {"classic", "classic"};
        KafkaConsumer[] consumers = {join(common, topic, group, "classic"), join(common, topic, group, "classic")};
        int sent = 0;
        int[] changes = {-1, 0, 1, 0, 1};
        for (int step = 0; step < changes.length; step++) {
            int place = changes[step];
            if (place >= 0) {
                consumers[place].close();
                spoken[place] = spoken[place].equals("classic") ? "consumer" : "classic";
                consumers[place] = join(common, topic, group, spoken[place]);
            }
            pollUntilEachHas(PARTITIONS / 2, consumers);
            sent += produce(common, topic);
            pollUntilAllAreRead(sent, consumers);
            pollUntilAllAreCommitted(sent, consumers, admin, group);
            Map described = (Map) admin.describeConsumerGroups(Collections.singleton(group)).all().get();
            ConsumerGroupDescription found = (ConsumerGroupDescription) described.get(group);
            System.out.println(spoken[0] + " " + spoken[1] + " " + consumers[0].assignment().size() + " "
                + consumers[1].assignment().size() + " " + found.type());
        }
        consumers[0].close();
        consumers[1].close();
        admin.close();
        System.out.println("sent " + sent + " read " + read.size() + " twice " + twice);
    }

    private static KafkaConsumer join(Properties common, String topic, String group, String protocol) {
        Properties properties = new Properties();
        properties.putAll(common);
        properties.put("group.id", group);
        properties.put("group.protocol", protocol);
        properties.put("auto.offset.reset", "earliest");
        properties.put("auto.commit.interval.ms", "100");
        if (protocol.equals("classic")) {
            properties.put("heartbeat.interval.ms", "100");
        }
        String deserializer = "org.apache.kafka.common.serialization.ByteArrayDeserializer";
        properties.put("key.deserializer", deserializer);
        properties.put("value.deserializer", deserializer);
        KafkaConsumer consumer = new KafkaConsumer(properties);
        consumer.subscribe(Collections.singletonList(topic));
        return consumer;
    }

    private static int produce(Properties common, String topic) throws Exception {
        Properties properties = new Properties();
        properties.putAll(common);
        String serializer = "org.apache.kafka.common.serialization.ByteArraySerializer";
        properties.put("key.serializer", serializer);
        properties.put("value.serializer", serializer);
        KafkaProducer producer = new KafkaProducer(properties);
        for (int partition = 0; partition < PARTITIONS; partition++) {
            producer.send(new ProducerRecord(topic, Integer.valueOf(partition), null, new byte[1])).get();
        }
        producer.close();
        return PARTITIONS;
    }

    private static void pollEach(KafkaConsumer[] consumers) {
        for (int i = 0; i < consumers.length; i++) {
            poll(consumers[i]);
        }
    }

    private static void poll(KafkaConsumer consumer) {
        for (Iterator records = consumer.poll(A_MOMENT).iterator(); records.hasNext();) {
            ConsumerRecord record = (ConsumerRecord) records.next();
            if (!read.add(record.partition() + "-" + record.offset())) {
                twice++;
            }
        }
    }

    /** A classic consumer waits in poll() for the others, so all are polled in turn. */
    private static void pollUntilEachHas(int partitions, KafkaConsumer[] consumers) {
        long endMs = System.currentTimeMillis() + PATIENCE_MS;
        for (int had = 0; had < consumers.length;) {
            had = 0;
            for (int i = 0; i < consumers.length; i++) {
                poll(consumers[i]);
                requireTime(endMs, "a consumer has " + consumers[i].assignment() + " and not " + partitions);
            }
            for (int i = 0; i < consumers.length; i++) {
                had += consumers[i].assignment().size() == partitions ? 1 : 0;
            }
        }
    }

    private static void pollUntilAllAreRead(int count, KafkaConsumer[] consumers) {
        long endMs = System.currentTimeMillis() + PATIENCE_MS;
        while (read.size() < count) {
            pollEach(consumers);
            requireTime(endMs, read.size() + " records of " + count + " were read");
        }
    }

    /** The next owner of a partition begins at its committed offset: what is committed is read once. */
    private static void pollUntilAllAreCommitted(int count, KafkaConsumer[] consumers, AdminClient admin, String group)
            throws Exception {
        long endMs = System.currentTimeMillis() + PATIENCE_MS;
        for (long committed = 0; committed < count;) {
            pollEach(consumers);
            Map found = (Map) admin.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata().get();
            committed = 0;
            for (Iterator offsets = found.values().iterator(); offsets.hasNext();) {
                committed += ((OffsetAndMetadata) offsets.next()).offset();
            }
            requireTime(endMs, committed + " records of " + count + " are committed");
        }
    }

    private static void requireTime(long endMs, String now) {
        if (System.currentTimeMillis() > endMs) {
            throw new IllegalStateException("after " + PATIENCE_MS + " ms " + now);
        }
    }
}
