import java.lang.reflect.AccessibleObject;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.Future;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;

/**
 * Where a released Java producer puts records without a key. Two ways:
 * "class PARTITIONS AVAILABLE TOPICS": its default partitioner alone, asked for each topic of a list in turn;
 * "producer BOOTSTRAP TOPIC SIZES BATCH_SIZE": a producer whose batches wait, a partition for each record.
 */
public class AskKeyless {
    public static void main(String[] words) throws Exception {
        if (words[0].equals("class")) {
            System.out.println(dealt(Integer.parseInt(words[1]), words[2].split(","), words[3].split(",")));
        } else {
            System.out.println(sent(words[1], words[2], words[3].split(","), words[4]));
        }
    }

    private static String dealt(int count, String[] available, String[] topics) throws Exception {
        Node node = new Node(0, "localhost", 99);
        Node[] nodes = new Node[] {node};
        List infos = new ArrayList();
        List names = new ArrayList(new java.util.TreeSet(java.util.Arrays.asList(topics)));
        List up = java.util.Arrays.asList(available);
        for (int t = 0; t < names.size(); t++) {
            for (int p = 0; p < count; p++) {
                Node leader = up.contains("" + p) ? node : null;
                infos.add(new PartitionInfo((String) names.get(t), p, leader, nodes, nodes));
            }
        }
        Cluster cluster = cluster(node, infos);
        Object partitioner = partitioner();
        StringBuilder said = new StringBuilder();
        for (int i = 0; i < topics.length; i++) {
            said.append(i == 0 ? "" : ",").append(asked(partitioner, topics[i], cluster));
        }
        return said.toString();
    }

    private static Cluster cluster(Node node, List infos) throws Exception {
        Constructor[] all = Cluster.class.getConstructors();
        for (int i = 0; i < all.length; i++) {
            Class[] takes = all[i].getParameterTypes();
            if (takes.length == 2) {
                return (Cluster) all[i].newInstance(new Object[] {Collections.singletonList(node), infos});
            }
            if (takes.length == 3) {
                Object none = new HashSet();
                return (Cluster) all[i].newInstance(new Object[] {Collections.singletonList(node), infos, none});
            }
            if (takes.length == 5 && takes[0] == String.class) {
                Object none = new HashSet();
                return (Cluster) all[i].newInstance(
                    new Object[] {"c", Collections.singletonList(node), infos, none, none});
            }
        }
        throw new IllegalStateException("no constructor of Cluster");
    }

    private static Object partitioner() throws Exception {
        String place = "org.apache.kafka.clients.producer.internals.";
        try {
            return Class.forName(place + "DefaultPartitioner").newInstance();
        } catch (ClassNotFoundException older) {
            return Class.forName(place + "Partitioner").newInstance();
        }
    }

    private static Object asked(Object partitioner, String topic, Cluster cluster) throws Exception {
        Method[] all = partitioner.getClass().getMethods();
        for (int i = 0; i < all.length; i++) {
            if (all[i].getName().equals("partition")) {
                int takes = all[i].getParameterTypes().length;
                ((AccessibleObject) all[i]).setAccessible(true);
                if (takes == 6) {
                    return all[i].invoke(partitioner, new Object[] {topic, null, null, null, null, cluster});
                }
                if (takes == 2) {
                    Object record = new ProducerRecord(topic, null, new byte[1]);
                    return all[i].invoke(partitioner, new Object[] {record, cluster});
                }
            }
        }
        throw new IllegalStateException("no method partition of six or two");
    }

    private static String sent(String bootstrap, String topic, String[] sizes, String batchSize) throws Exception {
        Properties given = new Properties();
        given.put("bootstrap.servers", bootstrap);
        given.put("key.serializer", "org.apache.kafka.common.serialization.ByteArraySerializer");
        given.put("value.serializer", "org.apache.kafka.common.serialization.ByteArraySerializer");
        given.put("batch.size", batchSize);
        given.put("linger.ms", "100000");
        given.put("delivery.timeout.ms", "200000");
        given.put("partitioner.adaptive.partitioning.enable", "false");
        given.put("enable.idempotence", "false");
        KafkaProducer producer = new KafkaProducer(given);
        producer.partitionsFor(topic);
        List answers = new ArrayList();
        for (int i = 0; i < sizes.length; i++) {
            answers.add(producer.send(new ProducerRecord(topic, null, new byte[Integer.parseInt(sizes[i])])));
        }
        KafkaProducer.class.getMethod("flush", new Class[] {}).invoke(producer, new Object[] {});
        StringBuilder said = new StringBuilder();
        for (int i = 0; i < answers.size(); i++) {
            RecordMetadata found = (RecordMetadata) ((Future) answers.get(i)).get();
            said.append(i == 0 ? "" : ",").append(found.partition());
        }
        producer.close();
        return said.toString();
    }
}
