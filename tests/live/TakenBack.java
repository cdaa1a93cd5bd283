import java.time.Duration;
import java.util.Collections;
import java.util.Properties;
import org.apache.kafka.clients.consumer.KafkaConsumer;

/**
 * Two members of a KIP-848 group with two partitions. A is at work, outside poll(), when B is closed and started again.
 * Prints how many partitions the new B has before A polls again, and how many each of them has in the end.
 */
public class TakenBack {
    private static final Duration A_MOMENT = Duration.ofMillis(20);

    public static void main(String[] words) throws Exception {
        long shareMs = Long.parseLong(words[3]);
        KafkaConsumer a = join(words[0], words[1], words[2]);
        KafkaConsumer b = join(words[0], words[1], words[2]);
        pollBoth(a, b, shareMs);
        System.out.println("shared " + a.assignment().size() + " " + b.assignment().size());
        b.close();
        Thread.sleep(shareMs);
        b = join(words[0], words[1], words[2]);
        poll(b, shareMs);
        System.out.println("while A works " + b.assignment().size());
        pollBoth(a, b, shareMs);
        System.out.println("shared " + a.assignment().size() + " " + b.assignment().size());
        a.close();
        b.close();
    }

    private static KafkaConsumer join(String bootstrap, String topic, String group) {
        Properties properties = new Properties();
        properties.put("bootstrap.servers", bootstrap);
        properties.put("group.id", group);
        properties.put("group.protocol", "consumer");
        String deserializer = "org.apache.kafka.common.serialization.ByteArrayDeserializer";
        properties.put("key.deserializer", deserializer);
        properties.put("value.deserializer", deserializer);
        KafkaConsumer consumer = new KafkaConsumer(properties);
        consumer.subscribe(Collections.singletonList(topic));
        return consumer;
    }

    private static void poll(KafkaConsumer consumer, long forMs) {
        long endMs = System.currentTimeMillis() + forMs;
        while (System.currentTimeMillis() < endMs) {
            consumer.poll(A_MOMENT);
        }
    }

    private static void pollBoth(KafkaConsumer a, KafkaConsumer b, long forMs) {
        long endMs = System.currentTimeMillis() + forMs;
        while (System.currentTimeMillis() < endMs) {
            a.poll(A_MOMENT);
            b.poll(A_MOMENT);
        }
    }
}
