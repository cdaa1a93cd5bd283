import java.io.BufferedReader;
import java.io.File;
import java.io.FileReader;
import java.io.FileWriter;
import java.lang.reflect.AccessibleObject;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.utils.Utils;
import org.apache.kafka.coordinator.share.PersisterStateBatchCombiner;
import org.apache.kafka.server.share.persister.PersisterStateBatch;
import org.apache.kafka.storage.internals.checkpoint.OffsetCheckpointFile;
import org.apache.kafka.storage.internals.log.LogDirFailureChannel;
import org.apache.kafka.storage.internals.log.OffsetIndex;
import org.apache.kafka.storage.internals.log.OffsetPosition;
import org.apache.kafka.tools.reassign.ReassignPartitionsCommand;

/**
 * Puts the questions of a file, a line each with its parts between tabs, to classes of a released broker, and prints a
 * line for each answer. Lists are numbers between commas; a list of lists has semicolons.
 */
public class AskRules {
    private static final String REASSIGNMENT = "org.apache.kafka.controller.PartitionReassignmentReplicas";

    public static void main(String[] words) throws Exception {
        BufferedReader questions = new BufferedReader(new FileReader(words[0]));
        for (String line = questions.readLine(); line != null; line = questions.readLine()) {
            String[] parts = line.split("\t", -1);
            if (parts[0].equals("index")) {
                System.out.println(lookedUp(parts));
            } else if (parts[0].equals("reassignment")) {
                System.out.println(ended(parts));
            } else if (parts[0].equals("batches")) {
                System.out.println(combined(parts));
            } else if (parts[0].equals("checkpoint")) {
                System.out.println(checkpoint(parts[1]));
            } else if (parts[0].equals("plan")) {
                System.out.println(plan(parts));
            } else if (parts[0].equals("murmur2")) {
                System.out.println(Utils.murmur2(key(parts[1])));
            } else {
                throw new IllegalArgumentException(line);
            }
        }
    }

    /** index, base offset, entries "offset,position;...", offsets asked: "position,..." */
    private static String lookedUp(String[] parts) throws Exception {
        File file = File.createTempFile("asked", ".index");
        file.delete();
        OffsetIndex index = new OffsetIndex(file, Long.parseLong(parts[1]), 8000, true);
        String[] entries = listed(parts[2], ";");
        for (int i = 0; i < entries.length; i++) {
            String[] pair = entries[i].split(",");
            index.append(Long.parseLong(pair[0]), Integer.parseInt(pair[1]));
        }
        String[] asked = listed(parts[3], ",");
        StringBuilder said = new StringBuilder();
        for (int i = 0; i < asked.length; i++) {
            said.append(i == 0 ? "" : ",").append(position(index.lookup(Long.parseLong(asked[i]))));
        }
        index.close();
        file.delete();
        return said.toString();
    }

    /** reassignment, replicas, adding, removing, ISR: "no", or replicas and ISR after it. */
    private static String ended(String[] parts) throws Exception {
        Constructor[] all = Class.forName(REASSIGNMENT).getDeclaredConstructors();
        for (int i = 0; i < all.length; i++) {
            if (all[i].getParameterTypes().length == 3) {
                all[i].setAccessible(true);
                Object[] given = new Object[] {numbers(parts[3]), numbers(parts[2]), numbers(parts[1])};
                Object asked = all[i].newInstance(given);
                Optional done = (Optional) call(asked, "maybeCompleteReassignment", new Object[] {numbers(parts[4])});
                if (!done.isPresent()) {
                    return "no";
                }
                return call(done.get(), "replicas", new Object[] {}) + "\t" + call(done.get(), "isr", new Object[] {});
            }
        }
        throw new IllegalStateException("no constructor of three lists");
    }

    /** batches, there, more ("first,last,state,count;..."), start offset: the batches combined. */
    private static String combined(String[] parts) throws Exception {
        List found = new PersisterStateBatchCombiner(batches(parts[1]), batches(parts[2]), Long.parseLong(parts[3]))
            .combineStateBatches();
        StringBuilder said = new StringBuilder();
        for (int i = 0; i < found.size(); i++) {
            PersisterStateBatch each = (PersisterStateBatch) found.get(i);
            said.append(i == 0 ? "" : ";").append(each.firstOffset()).append(",").append(each.lastOffset()).append(",")
                .append(each.deliveryState()).append(",").append(each.deliveryCount());
        }
        return said.toString();
    }

    /** checkpoint, the file's text with "|" for the ends of lines: "topic,partition,offset;..." or "refused". */
    private static String checkpoint(String text) throws Exception {
        File file = File.createTempFile("asked", "-checkpoint");
        FileWriter writer = new FileWriter(file);
        writer.write(text.replace('|', '\n'));
        writer.close();
        TreeMap found = new TreeMap();
        try {
            Map read = new OffsetCheckpointFile(file, null).read();
            Object[] places = read.keySet().toArray();
            for (int i = 0; i < places.length; i++) {
                TopicPartition place = (TopicPartition) places[i];
                found.put(place.topic() + "," + place.partition() + "," + read.get(place), "");
            }
        } catch (Exception error) {
            return "refused";
        } finally {
            file.delete();
        }
        StringBuilder said = new StringBuilder();
        Object[] lines = found.keySet().toArray();
        for (int i = 0; i < lines.length; i++) {
            said.append(i == 0 ? "" : ";").append(lines[i]);
        }
        return said.toString();
    }

    /** plan, "topic,partition,replica,...;...": the JSON of the tool. */
    private static String plan(String[] parts) throws Exception {
        Map moves = new LinkedHashMap();
        String[] each = listed(parts[1], ";");
        for (int i = 0; i < each.length; i++) {
            String[] words = each[i].split(",");
            List replicas = new ArrayList();
            for (int j = 2; j < words.length; j++) {
                replicas.add(Integer.valueOf(words[j]));
            }
            moves.put(new TopicPartition(words[0], Integer.parseInt(words[1])), replicas);
        }
        return ReassignPartitionsCommand.formatAsReassignmentJson(moves, new HashMap());
    }

    /** Of "byte,times": that byte, one more, and so on. */
    private static byte[] key(String text) {
        byte[] key = new byte[Integer.parseInt(text.split(",")[1])];
        for (int i = 0; i < key.length; i++) {
            key[i] = (byte) (Integer.parseInt(text.split(",")[0]) + i * 7);
        }
        return key;
    }

    /** A field up to 4.2, a method since. */
    private static Object position(OffsetPosition found) throws Exception {
        try {
            return OffsetPosition.class.getField("position").get(found);
        } catch (NoSuchFieldException newer) {
            return call(found, "position", new Object[] {});
        }
    }

    private static List batches(String text) {
        List found = new ArrayList();
        String[] each = listed(text, ";");
        for (int i = 0; i < each.length; i++) {
            String[] n = each[i].split(",");
            found.add(new PersisterStateBatch(
                Long.parseLong(n[0]), Long.parseLong(n[1]), Byte.parseByte(n[2]), Short.parseShort(n[3])));
        }
        return found;
    }

    private static List numbers(String text) {
        List found = new ArrayList();
        String[] each = listed(text, ",");
        for (int i = 0; i < each.length; i++) {
            found.add(Integer.valueOf(each[i]));
        }
        return found;
    }

    private static String[] listed(String text, String by) {
        return text.isEmpty() ? new String[0] : text.split(by);
    }

    private static Object call(Object whom, String name, Object[] given) throws Exception {
        Method[] all = whom.getClass().getDeclaredMethods();
        for (int i = 0; i < all.length; i++) {
            if (all[i].getName().equals(name) && all[i].getParameterTypes().length == given.length) {
                ((AccessibleObject) all[i]).setAccessible(true);
                return all[i].invoke(whom, given);
            }
        }
        throw new IllegalStateException(name);
    }
}
