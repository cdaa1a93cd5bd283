import java.lang.reflect.Method;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeSet;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * What a producer offers of two-phase commit (KIP-939), and how far it comes with it: its methods about transactions,
 * then a line for each of the settings in its arguments behind bootstrap servers and topic, "NAME=VALUE,NAME=VALUE".
 */
public class TwoPhase {
    public static void main(String[] words) throws Exception {
        TreeSet names = new TreeSet();
        Method[] all = Producer.class.getMethods();
        for (int i = 0; i < all.length; i++) {
            if (all[i].getName().indexOf("ransaction") >= 0) {
                names.add(all[i].getName() + "/" + all[i].getParameterTypes().length);
            }
        }
        System.out.println(names);
        for (int i = 2; i < words.length; i++) {
            System.out.println(sent(words[0], words[1], words[i].split(",")));
        }
    }

    private static String sent(String bootstrap, String topic, String[] pairs) {
        Map settings = new HashMap();
        settings.put("bootstrap.servers", bootstrap);
        settings.put("transactional.id", "x");
        for (int i = 0; i < pairs.length; i++) {
            settings.put(pairs[i].split("=")[0], pairs[i].split("=")[1]);
        }
        KafkaProducer producer = null;
        try {
            producer = new KafkaProducer(settings, new ByteArraySerializer(), new ByteArraySerializer());
            producer.initTransactions();
            producer.beginTransaction();
            producer.send(new ProducerRecord(topic, new byte[1])).get();
            return "sent";
        } catch (Throwable error) {
            Throwable cause = error.getCause() == null ? error : error.getCause();
            return error.getClass().getSimpleName() + ": " + cause.getMessage();
        } finally {
            if (producer != null) {
                producer.close(java.time.Duration.ZERO);
            }
        }
    }
}
