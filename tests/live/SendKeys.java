import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.Future;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** Sends keys, given as hexadecimal digits, with Kafka's own producer as it comes, and prints where each has landed. */
public class SendKeys {
    public static void main(String[] words) throws Exception {
        Properties properties = new Properties();
        properties.put("bootstrap.servers", words[0]);
        KafkaProducer producer = new KafkaProducer(properties, new ByteArraySerializer(), new ByteArraySerializer());
        List answers = new ArrayList();
        for (int i = 2; i < words.length; i++) {
            answers.add(producer.send(new ProducerRecord(words[1], bytes(words[i]), new byte[0])));
        }
        for (int i = 2; i < words.length; i++) {
            RecordMetadata landed = (RecordMetadata) ((Future) answers.get(i - 2)).get();
            System.out.println(words[i] + " " + landed.partition());
        }
        producer.close();
    }

    private static byte[] bytes(String digits) {
        byte[] found = new byte[digits.length() / 2];
        for (int i = 0; i < found.length; i++) {
            found[i] = (byte) Integer.parseInt(digits.substring(2 * i, 2 * i + 2), 16);
        }
        return found;
    }
}
