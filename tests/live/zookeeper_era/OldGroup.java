import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import kafka.consumer.Consumer;
import kafka.consumer.ConsumerConfig;
import kafka.consumer.KafkaStream;
import kafka.consumer.Whitelist;
import kafka.javaapi.consumer.ConsumerConnector;
import kafka.message.MessageAndMetadata;
import kafka.server.KafkaServerStartable;
import org.apache.kafka.clients.admin.AdminClient;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.server.NIOServerCnxnFactory;
import org.apache.zookeeper.server.ZooKeeperServer;

/** A ZooKeeper, a broker and old consumers in one process: a command a line, an answer a line. */
public class OldGroup {
    private static final Map CONSUMERS = new HashMap();
    private static final List READ = Collections.synchronizedList(new ArrayList());
    private static String zookeeper;
    private static String port;
    private static ZooKeeper client;
    private static AdminClient admin;
    private static KafkaProducer producer;

    public static void main(String[] words) throws Exception {
        start(new File(words[0]));
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("ready");
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String answer;
            try {
                answer = answer(line.split(" "));
            } catch (Throwable error) {
                answer = "threw " + error;
            }
            System.out.println(answer.replace('\n', ' '));
            System.out.flush();
        }
        Runtime.getRuntime().halt(0);
    }

    private static void start(File folder) throws Exception {
        ZooKeeperServer server = new ZooKeeperServer(new File(folder, "zk"), new File(folder, "zk"), 500);
        NIOServerCnxnFactory connections = new NIOServerCnxnFactory();
        connections.configure(new InetSocketAddress("127.0.0.1", 0), 100);
        connections.startup(server);
        zookeeper = "127.0.0.1:" + connections.getLocalPort();
        Properties properties = new Properties();
        properties.put("broker.id", "0");
        properties.put("listeners", "PLAINTEXT://127.0.0.1:0");
        properties.put("zookeeper.connect", zookeeper);
        properties.put("log.dirs", new File(folder, "kafka").getPath());
        properties.put("offsets.topic.num.partitions", "2");
        properties.put("offsets.topic.replication.factor", "1");
        properties.put("auto.create.topics.enable", "false");
        properties.put("log.cleaner.enable", "false");
        KafkaServerStartable.fromProps(properties).startup();
        client = new ZooKeeper(zookeeper, 30000, new Watcher() {
            public void process(WatchedEvent event) {
            }
        });
        String where = content("/brokers/ids/0");
        port = where.replaceAll(".*\"port\":(\\d+).*", "$1");
        Properties common = new Properties();
        common.put("bootstrap.servers", "127.0.0.1:" + port);
        admin = AdminClient.create(common);
        producer = new KafkaProducer(common, new ByteArraySerializer(), new ByteArraySerializer());
    }

    private static String answer(String[] words) throws Exception {
        if (words[0].equals("port")) {
            return port;
        }
        if (words[0].equals("create")) {
            NewTopic topic = new NewTopic(words[1], Integer.parseInt(words[2]), (short) 1);
            admin.createTopics(Collections.singleton(topic)).all().get();
            return "done";
        }
        if (words[0].equals("grow")) {
            Map more = Collections.singletonMap(words[1], NewPartitions.increaseTo(Integer.parseInt(words[2])));
            admin.createPartitions(more).all().get();
            return "done";
        }
        if (words[0].equals("produce")) {
            for (int partition = 0; partition < Integer.parseInt(words[2]); partition++) {
                for (int i = 0; i < Integer.parseInt(words[3]); i++) {
                    producer.send(new ProducerRecord(words[1], Integer.valueOf(partition), null, new byte[1]));
                }
            }
            producer.flush();
            return "done";
        }
        if (words[0].equals("join")) {
            return join(words);
        }
        if (words[0].equals("commit")) {
            ((ConsumerConnector) CONSUMERS.get(words[1])).commitOffsets(true);
            return "done";
        }
        if (words[0].equals("leave")) {
            ((ConsumerConnector) CONSUMERS.remove(words[1])).shutdown();
            return "done";
        }
        if (words[0].equals("nodes")) {
            StringBuffer found = new StringBuffer("{");
            add("/consumers/" + words[1], found);
            return found.append("}").toString();
        }
        synchronized (READ) {
            String all = READ.toString();
            READ.clear();
            return all;
        }
    }

    /** join GROUP MEMBER STRATEGY topics=NAME:STREAMS,... or filter=REGEX:STREAMS. */
    private static String join(String[] words) throws Exception {
        Properties properties = new Properties();
        properties.put("zookeeper.connect", zookeeper);
        properties.put("group.id", words[1]);
        properties.put("consumer.id", words[2]);
        properties.put("partition.assignment.strategy", words[3]);
        properties.put("auto.offset.reset", "smallest");
        properties.put("auto.commit.enable", "false");
        properties.put("rebalance.backoff.ms", "700");
        properties.put("zookeeper.session.timeout.ms", "30000");
        ConsumerConnector consumer = Consumer.createJavaConsumerConnector(new ConsumerConfig(properties));
        CONSUMERS.put(words[2], consumer);
        List streams = new ArrayList();
        String what = words[4].substring(words[4].indexOf('=') + 1);
        if (words[4].startsWith("filter")) {
            int at = what.lastIndexOf(':');
            Whitelist list = new Whitelist(what.substring(0, at));
            streams.addAll(consumer.createMessageStreamsByFilter(list, Integer.parseInt(what.substring(at + 1))));
        } else {
            Map counts = new HashMap();
            String[] topics = what.split(",");
            for (int i = 0; i < topics.length; i++) {
                String[] pair = topics[i].split(":");
                counts.put(pair[0], Integer.valueOf(pair[1]));
            }
            for (Iterator each = consumer.createMessageStreams(counts).values().iterator(); each.hasNext();) {
                streams.addAll((List) each.next());
            }
        }
        for (int i = 0; i < streams.size(); i++) {
            read(words[2], (KafkaStream) streams.get(i));
        }
        return "done";
    }

    private static void read(final String member, final KafkaStream stream) {
        Thread thread = new Thread(new Runnable() {
            public void run() {
                // The stream has an iterator() of Java and one of Scala; Janino on Java 21 cannot choose.
                Iterator records = ((Iterable) stream).iterator();
                while (records.hasNext()) {
                    MessageAndMetadata each = (MessageAndMetadata) records.next();
                    String place = "\"" + each.topic() + "\"," + each.partition() + "," + each.offset();
                    READ.add("[\"" + member + "\"," + place + "]");
                }
            }
        });
        thread.setDaemon(true);
        thread.start();
    }

    private static String content(String path) throws Exception {
        byte[] data = client.getData(path, false, null);
        return data == null ? "" : new String(data, "UTF-8");
    }

    /** A node and all below it with their contents, as the members of a JSON object. */
    private static void add(String path, StringBuffer found) throws Exception {
        if (client.exists(path, false) == null) {
            return;
        }
        found.append(found.length() > 1 ? "," : "").append("\"").append(path).append("\":\"");
        found.append(content(path).replace("\\", "\\\\").replace("\"", "\\\"")).append("\"");
        Object[] names = client.getChildren(path, false).toArray();
        Arrays.sort(names);
        for (int i = 0; i < names.length; i++) {
            add(path + "/" + names[i], found);
        }
    }
}
