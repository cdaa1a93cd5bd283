import java.time.Duration;
import java.util.Collections;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import org.apache.kafka.clients.consumer.AcknowledgeType;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaShareConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicIdPartition;

/**
 * Members of a share group that do what they are told, one step after the other; a line is printed for each step.
 *
 * Arguments: bootstrap servers, topic, group, then steps: "send:3" appends three records as one batch;
 * "a=implicit,500,batch_optimized" starts a member with its mode, max.poll.records and share.acquire.mode;
 * "a.poll" polls until records come, "a.look" once and briefly; "a.accept:0", "a.release:0", "a.reject:0", "a.renew:0"
 * say what became of a record; "a.commit" sends it and waits; "a.close" ends the member. A poll prints offset and
 * delivery count of each record, a commit what became of each partition, and what is refused the exception's name.
 */
public class ShareMembers {
    private static final Duration BRIEFLY = Duration.ofMillis(1000);
    private static final long PATIENCE_MS = 60000;

    private static Properties common;
    private static String topic;
    private static Map members = new HashMap();
    private static Map polled = new HashMap();

    public static void main(String[] words) throws Exception {
        common = new Properties();
        common.put("bootstrap.servers", words[0]);
        topic = words[1];
        for (int at = 3; at < words.length; at++) {
            String told;
            try {
                told = play(words[at], words[2]);
            } catch (RuntimeException error) {
                told = error.getClass().getSimpleName();
            }
            System.out.println((words[at] + " " + told).trim());
        }
        Iterator left = members.values().iterator();
        while (left.hasNext()) {
            ((KafkaShareConsumer) left.next()).close();
        }
    }

    private static String play(String step, String group) throws Exception {
        if (step.startsWith("send:")) {
            send(Integer.parseInt(step.substring(5)));
            return "";
        }
        if (step.indexOf('=') > 0) {
            join(step.substring(0, step.indexOf('=')), step.substring(step.indexOf('=') + 1).split(","), group);
            return "";
        }
        String name = step.substring(0, step.indexOf('.'));
        String[] rest = step.substring(step.indexOf('.') + 1).split(":");
        KafkaShareConsumer member = (KafkaShareConsumer) members.get(name);
        if (rest[0].equals("poll")) {
            return poll(name, member, PATIENCE_MS);
        }
        if (rest[0].equals("look")) {
            return poll(name, member, 0);
        }
        if (rest[0].equals("commit")) {
            return commit(member);
        }
        if (rest[0].equals("close")) {
            members.remove(name);
            member.close();
            return "";
        }
        ConsumerRecord record = (ConsumerRecord) polled.get(name + " " + rest[1]);
        member.acknowledge(record, AcknowledgeType.valueOf(rest[0].toUpperCase()));
        return "";
    }

    private static void join(String name, String[] how, String group) {
        Properties properties = new Properties();
        properties.putAll(common);
        properties.put("group.id", group);
        properties.put("client.id", name);
        properties.put("share.acknowledgement.mode", how[0]);
        properties.put("max.poll.records", how[1]);
        properties.put("share.acquire.mode", how[2]);
        String deserializer = "org.apache.kafka.common.serialization.ByteArrayDeserializer";
        properties.put("key.deserializer", deserializer);
        properties.put("value.deserializer", deserializer);
        KafkaShareConsumer member = new KafkaShareConsumer(properties);
        member.subscribe(Collections.singletonList(topic));
        members.put(name, member);
    }

    private static String poll(String name, KafkaShareConsumer member, long patienceMs) {
        long end = System.currentTimeMillis() + patienceMs;
        ConsumerRecords found = member.poll(BRIEFLY);
        while (found.isEmpty() && System.currentTimeMillis() < end) {
            found = member.poll(BRIEFLY);
        }
        String told = "";
        Iterator records = found.iterator();
        while (records.hasNext()) {
            ConsumerRecord each = (ConsumerRecord) records.next();
            polled.put(name + " " + each.offset(), each);
            told = told + each.offset() + "/" + each.deliveryCount().get() + " ";
        }
        return told.trim();
    }

    private static String commit(KafkaShareConsumer member) {
        String told = "";
        Iterator results = member.commitSync().entrySet().iterator();
        while (results.hasNext()) {
            Map.Entry each = (Map.Entry) results.next();
            Optional error = (Optional) each.getValue();
            String name = error.isPresent() ? error.get().getClass().getSimpleName() : "NONE";
            told = told + ((TopicIdPartition) each.getKey()).partition() + "=" + name + " ";
        }
        return told.trim();
    }

    private static void send(int count) throws Exception {
        Properties properties = new Properties();
        properties.putAll(common);
        String serializer = "org.apache.kafka.common.serialization.ByteArraySerializer";
        properties.put("key.serializer", serializer);
        properties.put("value.serializer", serializer);
        properties.put("linger.ms", "60000");
        KafkaProducer producer = new KafkaProducer(properties);
        for (int number = 0; number < count; number++) {
            producer.send(new ProducerRecord(topic, Integer.valueOf(0), null, new byte[] {(byte) number}));
        }
        producer.flush();
        producer.close();
    }
}
