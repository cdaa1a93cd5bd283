import java.util.*;
import java.util.zip.CRC32;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor;
import org.apache.kafka.clients.consumer.StickyAssignor;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;

/**
 * Kafka's own StickyAssignor on the group of sticky.py, timed: fresh, and after the first member has left.
 *
 * Arguments: topics, partitions of each, members, rounds. Prints a line for each round (stage, milliseconds) and at
 * the end a line with a checksum of each stage's answer. Written without lambdas and generics, so that Janino, the
 * small compiler among Spark's jars, can compile it where there is no JDK.
 */
public class StickyTimes {
    public static void main(String[] arguments) {
        int topicCount = Integer.parseInt(arguments[0]);
        int partitionCount = Integer.parseInt(arguments[1]);
        int memberCount = Integer.parseInt(arguments[2]);
        int rounds = Integer.parseInt(arguments[3]);
        List topics = new ArrayList();
        List partitions = new ArrayList();
        for (int t = 0; t < topicCount; t++) {
            String topic = String.format("topic-%03d", new Object[] {Integer.valueOf(t)});
            topics.add(topic);
            for (int p = 0; p < partitionCount; p++) {
                partitions.add(new PartitionInfo(topic, p, null, new Node[0], new Node[0]));
            }
        }
        Cluster cluster = new Cluster("cluster", new ArrayList(), partitions, new HashSet(), new HashSet());

        Map fresh = new HashMap();
        for (int m = 0; m < memberCount; m++) {
            fresh.put(member(m), new ConsumerPartitionAssignor.Subscription(topics));
        }
        Map answer = timed("fresh", rounds, cluster, fresh);

        Map rest = new HashMap();
        for (int m = 1; m < memberCount; m++) {
            StickyAssignor client = new StickyAssignor();
            ConsumerPartitionAssignor.Assignment had = (ConsumerPartitionAssignor.Assignment) answer.get(member(m));
            client.onAssignment(had, new ConsumerGroupMetadata("group", 1, member(m), Optional.empty()));
            rest.put(member(m), new ConsumerPartitionAssignor.Subscription(
                topics, client.subscriptionUserData(new HashSet(topics)), new ArrayList(), 1, Optional.empty()));
        }
        timed("leave", rounds, cluster, rest);
    }

    static String member(int number) {
        return String.format("consumer-%04d", new Object[] {Integer.valueOf(number)});
    }

    static Map timed(String stage, int rounds, Cluster cluster, Map subscriptions) {
        Map answer = null;
        for (int round = 0; round < rounds; round++) {
            for (Object each : subscriptions.values()) {
                java.nio.ByteBuffer userData = ((ConsumerPartitionAssignor.Subscription) each).userData();
                if (userData != null) userData.rewind();
            }
            ConsumerPartitionAssignor.GroupSubscription group =
                new ConsumerPartitionAssignor.GroupSubscription(subscriptions);
            StickyAssignor assignor = new StickyAssignor();
            long begin = System.nanoTime();
            answer = assignor.assign(cluster, group).groupAssignment();
            System.out.println(stage + " " + (System.nanoTime() - begin) / 1e6);
        }
        System.out.println("crc32 " + stage + " " + checksum(answer));
        return answer;
    }

    static long checksum(Map answer) {
        CRC32 crc = new CRC32();
        for (Object id : new TreeSet(answer.keySet())) {
            crc.update((id + ":").getBytes());
            for (Object partition : ((ConsumerPartitionAssignor.Assignment) answer.get(id)).partitions()) {
                crc.update((" " + partition).getBytes());
            }
        }
        return crc.getValue();
    }
}
