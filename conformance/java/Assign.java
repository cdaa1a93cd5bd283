import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.RangeAssignor;
import org.apache.kafka.clients.consumer.RoundRobinAssignor;
import org.apache.kafka.clients.consumer.StickyAssignor;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;

/**
 * Answers a group a line with what Kafka's own assignor gives each member, until its input ends.
 *
 * A line: assignor|topic=count,...|member|member..., a member being id:topics:owned:generation:instance:rack with topics
 * and owned partitions between spaces; an empty generation: none. Behind a count may stand the racks of each partition's
 * replicas, for example t=2@a+b;b. The answer: member:partitions|..., or !error.
 */
public class Assign {
    public static void main(String[] words) throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
        PrintStream answers = new PrintStream(System.out, true, "UTF-8");
        String line = lines.readLine();
        while (line != null) {
            String answer;
            try {
                answer = answer(line.split("\\|", -1));
            } catch (Exception error) {
                answer = "!" + error;
            }
            answers.println(answer);
            line = lines.readLine();
        }
    }

    private static String answer(String[] parts) {
        ConsumerPartitionAssignor assignor = assignor(parts[0]);
        Map subscriptions = new HashMap();
        for (int i = 2; i < parts.length; i++) {
            String[] member = parts[i].split(":", -1);
            subscriptions.put(member[0], subscription(parts[0], member));
        }
        ConsumerPartitionAssignor.GroupAssignment given = assignor.assign(
            cluster(parts[1]), new ConsumerPartitionAssignor.GroupSubscription(subscriptions));
        StringBuilder text = new StringBuilder();
        for (int i = 2; i < parts.length; i++) {
            String id = parts[i].split(":", -1)[0];
            ConsumerPartitionAssignor.Assignment own =
                (ConsumerPartitionAssignor.Assignment) given.groupAssignment().get(id);
            text.append(i == 2 ? "" : "|").append(id).append(":");
            Iterator partitions = own.partitions().iterator();
            while (partitions.hasNext()) {
                text.append(partitions.next()).append(partitions.hasNext() ? " " : "");
            }
        }
        return text.toString();
    }

    private static ConsumerPartitionAssignor assignor(String name) {
        if (name.equals("range")) {
            return new RangeAssignor();
        }
        if (name.equals("roundrobin")) {
            return new RoundRobinAssignor();
        }
        if (name.equals("sticky")) {
            return new StickyAssignor();
        }
        return new CooperativeStickyAssignor();
    }

    private static ConsumerPartitionAssignor.Subscription subscription(String name, String[] member) {
        List topics = member[1].length() == 0 ? new ArrayList() : Arrays.asList((Object[]) member[1].split(" "));
        List owned = new ArrayList();
        if (member[2].length() > 0) {
            String[] places = member[2].split(" ");
            for (int i = 0; i < places.length; i++) {
                int dash = places[i].lastIndexOf('-');
                owned.add(new TopicPartition(places[i].substring(0, dash), Integer.parseInt(places[i].substring(dash + 1))));
            }
        }
        int generation = member[3].length() == 0 ? -1 : Integer.parseInt(member[3]);
        ByteBuffer data = null;
        if (member[3].length() > 0) {
            data = userData(assignor(name), topics, owned, generation, member[0]);
        }
        ConsumerPartitionAssignor.Subscription found = new ConsumerPartitionAssignor.Subscription(
            topics, data, owned, generation, member[5].length() == 0 ? Optional.empty() : Optional.of(member[5]));
        found.setGroupInstanceId(member[4].length() == 0 ? Optional.empty() : Optional.of(member[4]));
        return found;
    }

    /** What a client sends along with its subscription, once it was assigned something. */
    private static ByteBuffer userData(
            ConsumerPartitionAssignor own, List topics, List owned, int generation, String memberId) {
        own.onAssignment(
            new ConsumerPartitionAssignor.Assignment(owned),
            new ConsumerGroupMetadata("group", generation, memberId, Optional.empty()));
        return own.subscriptionUserData(new HashSet(topics));
    }

    /** A broker in each of these racks; an empty one names none. */
    private static Node[] nodes(String racks) {
        String[] each = racks.split("\\+", -1);
        Node[] found = new Node[each.length];
        for (int i = 0; i < each.length; i++) {
            found[i] = new Node(i, "localhost", 9092, each[i].length() == 0 ? null : each[i]);
        }
        return found;
    }

    private static Cluster cluster(String counts) {
        List partitions = new ArrayList();
        String[] topics = counts.length() == 0 ? new String[0] : counts.split(",");
        for (int i = 0; i < topics.length; i++) {
            String[] topic = topics[i].split("[=@]");
            String[] racks = topic.length < 3 ? null : topic[2].split(";", -1);
            for (int number = 0; number < Integer.parseInt(topic[1]); number++) {
                Node[] replicas = racks == null ? new Node[0] : nodes(racks[number]);
                partitions.add(new PartitionInfo(topic[0], number, null, replicas, replicas));
            }
        }
        return new Cluster("cluster", Collections.EMPTY_LIST, partitions, Collections.EMPTY_SET, Collections.EMPTY_SET);
    }
}
