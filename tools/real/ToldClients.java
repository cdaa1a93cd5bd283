import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.OffsetAndTimestamp;
import org.apache.kafka.clients.consumer.OffsetCommitCallback;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.Metric;
import org.apache.kafka.common.TopicPartition;

/**
 * Consumers and producers, each on a thread of its own, that do what they are told: a line of input for each command,
 * "NAME command words", a line of output for each thing that happens, "NAME what words", with tabs between.
 *
 * A command ends with "done" and its result, or with "threw", the exception's class and message, and the classes of
 * it and its causes. Beside that a consumer says "revoked", "assigned" and "lost" with its generation, the partitions of
 * the callback, and all that it owns then; "committed" with the error of an asynchronous commit and its offsets; and,
 * while it polls by itself ("run" until "rest"), "polled" with the records. "hold" pauses all it has and gets. Who is
 * told "subscribeUnheard" has no listener. "interrupted", before a command, does it on a thread that was interrupted;
 * "wakeup" and "interrupt" come to a consumer at once, whatever it does.
 * Argument: the bootstrap servers. When the input ends, the program does, without a good-bye.
 */
public class ToldClients {
    private static final String STRINGS = "org.apache.kafka.common.serialization.String";
    private static String bootstrap;

    public static void main(String[] words) throws Exception {
        bootstrap = words[0];
        Map clients = new HashMap();
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
        say("program", "ready", "");
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            String[] told = line.split("\t", -1);
            Client client = (Client) clients.get(told[0]);
            if (client == null) {
                client = new Client(told[0]);
                clients.put(told[0], client);
                client.start();
            }
            if (told[1].equals("wakeup")) {
                client.consumer.wakeup();
            } else if (told[1].equals("interrupt")) {
                client.interrupt();
            } else {
                client.told.put(told);
            }
        }
        Runtime.getRuntime().halt(0);
    }

    static synchronized void say(String name, String what, String words) {
        System.out.println(name + "\t" + what + "\t" + words);
        System.out.flush();
    }

    static class Client extends Thread implements ConsumerRebalanceListener {
        final LinkedBlockingQueue told = new LinkedBlockingQueue();
        final String name;
        KafkaConsumer consumer;
        KafkaProducer producer;
        private boolean isRunning = false;
        private boolean isHolding = false;
        private boolean isSilent = false;

        Client(String name) {
            this.name = name;
        }

        public void run() {
            while (true) {
                String[] next = null;
                try {
                    next = (String[]) (isRunning ? told.poll(1, TimeUnit.MILLISECONDS) : told.take());
                } catch (InterruptedException error) {
                    continue;
                }
                try {
                    if (next == null) {
                        String records = poll(50);
                        if (records.length() > 0 && !isSilent) {
                            say(name, "polled", records);
                        }
                    } else {
                        say(name, "done", next[1] + "\t" + result(next));
                    }
                } catch (Throwable error) {
                    String message = String.valueOf(error.getMessage()).replace('\t', ' ').replace('\n', ' ');
                    String command = next == null ? "run" : next[1];
                    String own = error.getClass().getSimpleName();
                    say(name, "threw", command + "\t" + own + "\t" + message + "\t" + classes(error));
                    isRunning = isRunning && next != null;
                }
            }
        }

        private String result(String[] told) throws Exception {
            String command = told[1];
            if (command.equals("consumer")) {
                consumer = new KafkaConsumer(properties(told[2], "Deserializer"));
            } else if (command.equals("producer")) {
                producer = new KafkaProducer(properties(told[2], "Serializer"));
            } else if (command.equals("send")) {
                producer.send(new ProducerRecord(told[2], Integer.valueOf(told[3]), null, told[4])).get();
            } else if (command.equals("subscribe")) {
                consumer.subscribe(new ArrayList(Arrays.asList(told[2].split(","))), this);
            } else if (command.equals("subscribeUnheard")) {
                consumer.subscribe(new ArrayList(Arrays.asList(told[2].split(","))));
            } else if (command.equals("assign")) {
                consumer.assign(places(told[2]));
            } else if (command.equals("run")) {
                isRunning = true;
                isSilent = told[2].equals("silently");
            } else if (command.equals("rest")) {
                isRunning = false;
            } else if (command.equals("work")) {
                Thread.sleep(Long.parseLong(told[2]));
            } else if (command.equals("hold")) {
                isHolding = true;
                consumer.pause(consumer.assignment());
            } else if (command.equals("poll")) {
                return poll(Long.parseLong(told[2]));
            } else if (command.equals("drain")) {
                return drain(Integer.parseInt(told[2]));
            } else if (command.equals("position")) {
                return offsets(places(told[2]));
            } else if (command.equals("positions")) {
                return offsets(consumer.assignment());
            } else if (command.equals("lag")) {
                TopicPartition place = (TopicPartition) places(told[2]).get(0);
                return String.valueOf(consumer.currentLag(place).orElse(-1));
            } else if (command.equals("ends")) {
                return String.valueOf(consumer.endOffsets(places(told[2])).values().iterator().next());
            } else if (command.equals("times")) {
                return times(told[2], told[3].split(","));
            } else if (command.equals("seek")) {
                consumer.seek((TopicPartition) places(told[2]).get(0), Long.parseLong(told[3]));
            } else if (command.equals("pause")) {
                consumer.pause(places(told[2]));
            } else if (command.equals("resume")) {
                consumer.resume(places(told[2]));
            } else if (command.equals("commit")) {
                if (told[2].equals("")) {
                    consumer.commitSync();
                } else {
                    consumer.commitSync(offset(told));
                }
            } else if (command.equals("commitAsync")) {
                commitAsync(told);
            } else if (command.equals("committed")) {
                return committed(told[2]);
            } else if (command.equals("identity")) {
                return consumer.groupMetadata().generationId() + "\t" + consumer.groupMetadata().memberId();
            } else if (command.equals("owned")) {
                return text(consumer.assignment());
            } else if (command.equals("unsubscribe")) {
                consumer.unsubscribe();
            } else if (command.equals("paused")) {
                return text(consumer.paused());
            } else if (command.equals("close")) {
                isRunning = false;
                if (consumer == null) {
                    producer.close(Duration.ZERO);
                } else {
                    consumer.close(Duration.ofMillis(told[2].equals("") ? 10000 : Long.parseLong(told[2])));
                }
            } else if (command.equals("interrupted")) {
                String[] rest = new String[told.length - 1];
                System.arraycopy(told, 1, rest, 0, rest.length);
                interrupt();
                try {
                    return result(rest);
                } finally {
                    interrupted();
                }
            } else if (command.equals("initTransactions")) {
                producer.initTransactions();
            } else if (command.equals("beginTransaction")) {
                producer.beginTransaction();
            } else if (command.equals("commitTransaction")) {
                producer.commitTransaction();
            } else if (command.equals("abortTransaction")) {
                producer.abortTransaction();
            } else if (command.equals("sendOffsets")) {
                producer.sendOffsetsToTransaction(offset(told), new ConsumerGroupMetadata(name));
            } else if (command.equals("nodes")) {
                return nodes(consumer == null ? producer.metrics() : consumer.metrics());
            } else {
                throw new IllegalArgumentException(command);
            }
            return "";
        }

        private Properties properties(String given, String kind) {
            Properties properties = new Properties();
            properties.put("bootstrap.servers", bootstrap);
            properties.put("client.id", name);
            properties.put("key." + kind.toLowerCase(), STRINGS + kind);
            properties.put("value." + kind.toLowerCase(), STRINGS + kind);
            String[] pairs = given.split(";");
            for (int i = 0; i < pairs.length; i++) {
                int at = pairs[i].indexOf('=');
                if (at > 0) {
                    properties.put(pairs[i].substring(0, at), pairs[i].substring(at + 1));
                }
            }
            return properties;
        }

        private String poll(long ms) {
            StringBuffer text = new StringBuffer();
            Iterator records = consumer.poll(Duration.ofMillis(ms)).iterator();
            while (records.hasNext()) {
                ConsumerRecord each = (ConsumerRecord) records.next();
                text.append(text.length() == 0 ? "" : ",").append(each.topic()).append('-').append(each.partition());
                text.append(':').append(each.offset());
            }
            return text.toString();
        }

        /** Polls until so many polls have given records, or all is read; commits after each of them. */
        private String drain(int most) {
            isHolding = false;
            consumer.resume(consumer.assignment());
            StringBuffer text = new StringBuffer();
            for (int count = 0; count < most && !isAllRead();) {
                String records = poll(200);
                if (records.length() > 0) {
                    consumer.commitSync();
                    text.append(count++ == 0 ? "" : " ").append(records);
                }
            }
            isHolding = true;
            consumer.pause(consumer.assignment());
            return text.toString();
        }

        private boolean isAllRead() {
            Iterator ends = consumer.endOffsets(consumer.assignment()).entrySet().iterator();
            boolean isAllRead = true;
            while (ends.hasNext()) {
                Map.Entry each = (Map.Entry) ends.next();
                isAllRead &= consumer.position((TopicPartition) each.getKey()) >= ((Long) each.getValue()).longValue();
            }
            return isAllRead;
        }

        private String offsets(Collection places) {
            StringBuffer text = new StringBuffer();
            for (Iterator each = sorted(places).iterator(); each.hasNext();) {
                TopicPartition place = (TopicPartition) each.next();
                text.append(text.length() == 0 ? "" : ",").append(place).append('=').append(consumer.position(place));
            }
            return text.toString();
        }

        private String times(String where, String[] times) {
            TopicPartition place = (TopicPartition) places(where).get(0);
            StringBuffer text = new StringBuffer();
            for (int i = 0; i < times.length; i++) {
                Map asked = Collections.singletonMap(place, Long.valueOf(times[i]));
                OffsetAndTimestamp found = (OffsetAndTimestamp) consumer.offsetsForTimes(asked).get(place);
                text.append(i == 0 ? "" : ",").append(found == null ? "none" : String.valueOf(found.offset()));
            }
            return text.toString();
        }

        private Map offset(String[] told) {
            OffsetAndMetadata offset = told.length > 4
                ? new OffsetAndMetadata(Long.parseLong(told[3]), told[4])
                : new OffsetAndMetadata(Long.parseLong(told[3]));
            return Collections.singletonMap(places(told[2]).get(0), offset);
        }

        private void commitAsync(String[] told) {
            OffsetCommitCallback callback = new OffsetCommitCallback() {
                public void onComplete(Map offsets, Exception error) {
                    StringBuffer text = new StringBuffer(error == null ? "NONE" : error.getClass().getSimpleName());
                    Map told = offsets == null ? Collections.emptyMap() : offsets;
                    for (Iterator each = sorted(told.keySet()).iterator(); each.hasNext();) {
                        Object place = each.next();
                        text.append('\t').append(place).append('=');
                        text.append(((OffsetAndMetadata) told.get(place)).offset());
                    }
                    say(name, "committed", text.toString());
                }
            };
            if (told[2].equals("")) {
                consumer.commitAsync(callback);
            } else {
                consumer.commitAsync(offset(told), callback);
            }
        }

        private String committed(String where) {
            TopicPartition place = (TopicPartition) places(where).get(0);
            OffsetAndMetadata found = (OffsetAndMetadata) consumer.committed(Collections.singleton(place)).get(place);
            return found == null ? "none" : found.offset() + "\t" + found.metadata();
        }

        /** The requests that went to each node: nodes of brokers, that of the coordinator, those of the bootstrap. */
        private String nodes(Map metrics) {
            List found = new ArrayList();
            for (Iterator each = metrics.values().iterator(); each.hasNext();) {
                Metric metric = (Metric) each.next();
                boolean isOfNode = metric.metricName().group().endsWith("-node-metrics");
                if (isOfNode && metric.metricName().name().equals("request-total")) {
                    Object node = metric.metricName().tags().get("node-id");
                    found.add(node + "=" + ((Double) metric.metricValue()).longValue());
                }
            }
            Collections.sort(found);
            return found.toString().replaceAll("[\\[\\] ]", "");
        }

        public void onPartitionsRevoked(Collection places) {
            happened("revoked", places);
        }

        public void onPartitionsAssigned(Collection places) {
            happened("assigned", places);
            if (isHolding) {
                consumer.pause(consumer.assignment());
            }
        }

        public void onPartitionsLost(Collection places) {
            happened("lost", places);
        }

        private void happened(String what, Collection places) {
            String generation = String.valueOf(consumer.groupMetadata().generationId());
            say(name, what, generation + "\t" + text(places) + "\t" + text(consumer.assignment()));
        }

        private static String classes(Throwable error) {
            StringBuffer names = new StringBuffer(error.getClass().getSimpleName());
            for (Throwable cause = error.getCause(); cause != null; cause = cause.getCause()) {
                names.append(" < ").append(cause.getClass().getSimpleName());
            }
            return names.toString();
        }

        private static List places(String text) {
            List found = new ArrayList();
            String[] names = text.length() == 0 ? new String[0] : text.split(",");
            for (int i = 0; i < names.length; i++) {
                int at = names[i].lastIndexOf('-');
                found.add(new TopicPartition(names[i].substring(0, at), Integer.parseInt(names[i].substring(at + 1))));
            }
            return found;
        }

        private static String text(Collection places) {
            StringBuffer text = new StringBuffer();
            for (Iterator each = sorted(places).iterator(); each.hasNext();) {
                text.append(text.length() == 0 ? "" : ",").append(each.next());
            }
            return text.toString();
        }

        private static List sorted(Collection places) {
            TreeMap byName = new TreeMap();
            for (Iterator each = places.iterator(); each.hasNext();) {
                TopicPartition place = (TopicPartition) each.next();
                byName.put(place.topic() + " " + (100000 + place.partition()), place);
            }
            return new ArrayList(byName.values());
        }
    }
}
