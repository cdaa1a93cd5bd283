import java.time.Duration;
import java.util.Collection;
import java.util.Collections;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.clients.admin.AdminClient;
import org.apache.kafka.clients.admin.ConsumerGroupDescription;
import org.apache.kafka.clients.admin.MemberDescription;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;

/**
 * Two members of a KIP-848 group with two partitions. A is at work, outside poll(), when B is closed and started again.
 * Prints how many partitions the new B has before A polls again, and how many each of them has in the end.
 *
 * Each step waits for what the one before it has led to. A joins first, alone: so its partition is the one that the
 * assignor lets it keep each time. Were B the first, A would have to give that partition up, for which it must poll.
 */
public class TakenBack {
    private static final Duration A_MOMENT = Duration.ofMillis(20);
    private static final long PATIENCE_MS = 60000;

    public static void main(String[] words) throws Exception {
        String topic = words[1];
        String group = words[2];
        Properties common = new Properties();
        common.put("bootstrap.servers", words[0]);
        KafkaConsumer a = join(common, topic, group);
        pollUntilEachHas(2, new KafkaConsumer[] {a});
        KafkaConsumer b = join(common, topic, group);
        KafkaConsumer[] both = new KafkaConsumer[] {a, b};
        pollUntilEachHas(1, both);
        System.out.println("shared " + a.assignment().size() + " " + b.assignment().size());
        b.close();
        AdminClient admin = AdminClient.create(common);
        waitUntilOnlyMemberIsGiven(2, admin, group);
        admin.close();
        b = join(common, topic, group);
        pollUntilEachHas(1, new KafkaConsumer[] {b});
        System.out.println("while A works " + b.assignment().size());
        both[1] = b;
        produce(common, topic, 2);
        pollUntilEachHasRead(both);
        System.out.println("shared " + a.assignment().size() + " " + b.assignment().size());
        a.close();
        b.close();
    }

    private static KafkaConsumer join(Properties common, String topic, String group) {
        Properties properties = new Properties();
        properties.putAll(common);
        properties.put("group.id", group);
        properties.put("group.protocol", "consumer");
        properties.put("auto.offset.reset", "earliest");
        String deserializer = "org.apache.kafka.common.serialization.ByteArrayDeserializer";
        properties.put("key.deserializer", deserializer);
        properties.put("value.deserializer", deserializer);
        KafkaConsumer consumer = new KafkaConsumer(properties);
        consumer.subscribe(Collections.singletonList(topic));
        return consumer;
    }

    private static void produce(Properties common, String topic, int partitions) throws Exception {
        Properties properties = new Properties();
        properties.putAll(common);
        String serializer = "org.apache.kafka.common.serialization.ByteArraySerializer";
        properties.put("key.serializer", serializer);
        properties.put("value.serializer", serializer);
        KafkaProducer producer = new KafkaProducer(properties);
        for (int partition = 0; partition < partitions; partition++) {
            producer.send(new ProducerRecord(topic, Integer.valueOf(partition), null, new byte[1])).get();
        }
        producer.close();
    }

    private static void pollUntilEachHas(int partitions, KafkaConsumer[] consumers) {
        long endMs = System.currentTimeMillis() + PATIENCE_MS;
        for (int i = 0; i < consumers.length;) {
            requireTime(endMs, "a consumer has " + consumers[i].assignment() + " and not " + partitions);
            for (int j = 0; j < consumers.length; j++) {
                consumers[j].poll(A_MOMENT);
            }
            for (i = 0; i < consumers.length && consumers[i].assignment().size() == partitions;) {
                i++;
            }
        }
    }

    private static void pollUntilEachHasRead(KafkaConsumer[] consumers) {
        long endMs = System.currentTimeMillis() + PATIENCE_MS;
        boolean[] hasRead = new boolean[consumers.length];
        for (int left = consumers.length; left > 0;) {
            requireTime(endMs, left + " of the consumers have read nothing");
            for (int i = 0; i < consumers.length; i++) {
                if (!consumers[i].poll(A_MOMENT).isEmpty() && !hasRead[i]) {
                    hasRead[i] = true;
                    left--;
                }
            }
        }
    }

    /** What the coordinator has given to the one member that is left, whether that has taken it up or not. */
    private static void waitUntilOnlyMemberIsGiven(int partitions, AdminClient admin, String group) throws Exception {
        long endMs = System.currentTimeMillis() + PATIENCE_MS;
        while (true) {
            Map described = (Map) admin.describeConsumerGroups(Collections.singleton(group)).all().get();
            Collection members = ((ConsumerGroupDescription) described.get(group)).members();
            MemberDescription first = (MemberDescription) members.iterator().next();
            if (members.size() == 1 && first.assignment().topicPartitions().size() == partitions) {
                return;
            }
            requireTime(endMs, "the members are " + members);
            Thread.sleep(A_MOMENT.toMillis());
        }
    }

    private static void requireTime(long endMs, String now) {
        if (System.currentTimeMillis() > endMs) {
            throw new IllegalStateException("after " + PATIENCE_MS + " ms " + now);
        }
    }
}
