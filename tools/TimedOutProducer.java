import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.time.Duration;
import java.util.Collections;
import java.util.Iterator;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;

/**
 * One producer with an open transaction of one record, whose epoch is raised behind its back; then the calls of its
 * script. Arguments: bootstrap servers, topic, transactional id, cause, calls with commas between.
 *
 * Cause: "timeout", the coordinator aborts the transaction for its time; "rival", another producer starts with the id.
 * Calls: begin, send, other (a record for partition 1), offsets, commit, abort. Before each a line is read, so that who
 * started this can tell which requests belong to it; after each a line is printed: the call, what came of it, the
 * message. At the end a line with the values that a read_committed consumer reads.
 */
public class TimedOutProducer {
    private static final String SERIALIZER = "org.apache.kafka.common.serialization.StringSerializer";
    private static final String DESERIALIZER = "org.apache.kafka.common.serialization.StringDeserializer";
    private static final long PATIENCE_MS = 60000;

    public static void main(String[] words) throws Exception {
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
        String topic = words[1];
        KafkaConsumer reader = reader(words[0], words[2]);
        KafkaProducer producer = producer(words[0], words[2], words[3].equals("timeout") ? "1000" : "60000");
        producer.initTransactions();
        producer.beginTransaction();
        producer.send(new ProducerRecord(topic, Integer.valueOf(0), null, "0")).get();
        if (words[3].equals("rival")) {
            KafkaProducer rival = producer(words[0], words[2], "60000");
            rival.initTransactions();
            rival.close();
        }
        waitForMarker(reader, topic);
        System.out.println("ready");
        String[] calls = words[4].split(",");
        for (int i = 0; i < calls.length; i++) {
            input.readLine();
            System.out.println(calls[i] + "\t" + outcome(producer, reader, topic, calls[i], String.valueOf(i + 1)));
        }
        input.readLine();
        System.out.println(read(reader, topic));
        System.exit(0);
    }

    private static String outcome(KafkaProducer producer, KafkaConsumer reader, String topic, String call, String value) {
        try {
            if (call.equals("begin")) {
                producer.beginTransaction();
            } else if (call.equals("commit")) {
                producer.commitTransaction();
            } else if (call.equals("abort")) {
                producer.abortTransaction();
            } else if (call.equals("offsets")) {
                Map offsets = Collections.singletonMap(new TopicPartition(topic, 0), new OffsetAndMetadata(7));
                producer.sendOffsetsToTransaction(offsets, reader.groupMetadata());
            } else {
                Integer partition = Integer.valueOf(call.equals("other") ? 1 : 0);
                Future future = producer.send(new ProducerRecord(topic, partition, null, value));
                try {
                    future.get();
                } catch (ExecutionException error) {
                    return "future\t" + named(error.getCause());
                }
            }
            return "done";
        } catch (Throwable error) {
            return "thrown\t" + named(error);
        }
    }

    /** The classes of an error and of what caused it, then its message. */
    private static String named(Throwable error) {
        StringBuffer names = new StringBuffer(error.getClass().getSimpleName());
        for (Throwable cause = error.getCause(); cause != null; cause = cause.getCause()) {
            names.append(" < ").append(cause.getClass().getSimpleName());
        }
        return names + "\t" + String.valueOf(error.getMessage()).replace('\n', ' ');
    }

    private static KafkaProducer producer(String bootstrap, String id, String timeoutMs) {
        Properties settings = new Properties();
        settings.put("bootstrap.servers", bootstrap);
        settings.put("transactional.id", id);
        settings.put("transaction.timeout.ms", timeoutMs);
        settings.put("key.serializer", SERIALIZER);
        settings.put("value.serializer", SERIALIZER);
        return new KafkaProducer(settings);
    }

    private static KafkaConsumer reader(String bootstrap, String group) {
        Properties settings = new Properties();
        settings.put("bootstrap.servers", bootstrap);
        settings.put("group.id", group);
        settings.put("isolation.level", "read_committed");
        settings.put("enable.auto.commit", "false");
        settings.put("auto.offset.reset", "earliest");
        settings.put("key.deserializer", DESERIALIZER);
        settings.put("value.deserializer", DESERIALIZER);
        return new KafkaConsumer(settings);
    }

    /** Until the reader may read to behind the record and its marker: the transaction is over at the partition. */
    private static void waitForMarker(KafkaConsumer reader, String topic) throws Exception {
        long endMs = System.currentTimeMillis() + PATIENCE_MS;
        while (stable(reader, topic) < 2) {
            if (System.currentTimeMillis() > endMs) {
                throw new IllegalStateException("no marker has come after " + PATIENCE_MS + " ms");
            }
            Thread.sleep(20);
        }
    }

    private static long stable(KafkaConsumer reader, String topic) {
        TopicPartition place = new TopicPartition(topic, 0);
        return ((Long) reader.endOffsets(Collections.singleton(place)).get(place)).longValue();
    }

    private static String read(KafkaConsumer reader, String topic) {
        TopicPartition place = new TopicPartition(topic, 0);
        reader.assign(Collections.singleton(place));
        StringBuffer values = new StringBuffer("read");
        long end = stable(reader, topic);
        while (reader.position(place) < end) {
            for (Iterator each = reader.poll(Duration.ofMillis(50)).iterator(); each.hasNext();) {
                values.append('\t').append(((ConsumerRecord) each.next()).value());
            }
        }
        return values.toString();
    }
}
