import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Prints what classes of a released Kafka answer to the questions in its arguments, a line each, parts between tabs.
 *
 * "apis": number, name, oldest and newest version of each request. "layouts NAMES": each of these classes, version,
 * fields; a name without a package is a record's of the offsets topic. "key HEX": murmur2, and Kafka's positive number
 * of it. "group TEXT": Kafka's abs of the hash.
 * "deprecated SIDE=CLASS": the settings whose documentation says that they are deprecated, and the release without them.
 * "assign TOPICS MEMBERS": by each assignor of the client who gets what, for "a=3,b=2" and "c1:a;b,c2:a".
 */
public class AskClasses {
    private static final String COMMON = "org.apache.kafka.common.";
    private static final String CONSUMER = "org.apache.kafka.clients.consumer.";
    private static final String GENERATED = "org.apache.kafka.coordinator.group.generated.";
    private static final String[] ASSIGNORS = {"Range", "RoundRobin", "Sticky", "CooperativeSticky"};

    public static void main(String[] arguments) throws Exception {
        for (int i = 0; i < arguments.length; i++) {
            String[] words = arguments[i].split(" ");
            if (words[0].equals("apis")) {
                apis();
            } else if (words[0].equals("layouts")) {
                layouts(words);
            } else if (words[0].equals("key")) {
                key(words[1]);
            } else if (words[0].equals("group")) {
                group(arguments[i].substring(6));
            } else if (words[0].equals("deprecated")) {
                deprecated(words[1]);
            } else {
                assign(words[1], words[2]);
            }
        }
    }

    private static void apis() throws Exception {
        Class type = Class.forName(COMMON + "protocol.ApiKeys");
        Object[] all = type.getEnumConstants();
        for (int i = 0; i < all.length; i++) {
            if (Boolean.FALSE.equals(type.getMethod("hasValidVersion", new Class[0]).invoke(all[i], new Object[0]))) {
                continue;
            }
            System.out.println("api\t" + type.getField("id").get(all[i]) + "\t" + type.getField("name").get(all[i])
                + "\t" + type.getMethod("oldestVersion", new Class[0]).invoke(all[i], new Object[0])
                + "\t" + type.getMethod("latestVersion", new Class[0]).invoke(all[i], new Object[0]));
        }
    }

    private static void deprecated(String question) throws Exception {
        String[] words = question.split("=");
        Class type;
        try {
            type = Class.forName(words[1]);
        } catch (ClassNotFoundException absent) {
            return;
        }
        Object definition = null;
        Method[] methods = type.getMethods();
        for (int i = 0; i < methods.length; i++) {
            if (methods[i].getName().equals("configDef") && methods[i].getParameterTypes().length == 0) {
                definition = methods[i].invoke(null, new Object[0]);
            }
        }
        Field[] fields = type.getDeclaredFields();
        for (int i = 0; i < fields.length && definition == null; i++) {
            if (java.lang.reflect.Modifier.isStatic(fields[i].getModifiers())
                && fields[i].getType().getName().endsWith("ConfigDef")) {
                fields[i].setAccessible(true);
                definition = fields[i].get(null);
            }
        }
        Map keys = (Map) definition.getClass().getMethod("configKeys", new Class[0]).invoke(definition, new Object[0]);
        Iterator names = new TreeMap(keys).keySet().iterator();
        while (names.hasNext()) {
            String name = (String) names.next();
            Object key = keys.get(name);
            String said = (String) key.getClass().getField("documentation").get(key);
            said = said == null ? "" : said.replaceAll("\\s+", " ");
            String form = "(?i)(\\W*deprecated\\b.*|.*this config(uration)? (is|has been) deprecated.*)";
            if (said.matches(form)) {
                String gone = said.replaceAll("(?i).*removed in (apache )?kafka (\\d+\\.\\d+).*", "$2");
                System.out.println("deprecated\t" + words[0] + "\t" + name + "\t" + (gone.equals(said) ? "-" : gone));
            }
        }
    }

    private static void layouts(String[] names) throws Exception {
        for (int i = 1; i < names.length; i++) {
            Class type;
            try {
                type = Class.forName(names[i].indexOf('.') < 0 ? GENERATED + names[i] : names[i]);
            } catch (ClassNotFoundException absent) {
                continue;
            }
            Object[] schemas = (Object[]) type.getField("SCHEMAS").get(null);
            for (int version = 0; version < schemas.length; version++) {
                if (schemas[version] != null) {
                    System.out.println("layout\t" + names[i] + "\t" + version + "\t" + fields(schemas[version]));
                }
            }
        }
    }

    /** The fields of a schema in the order of their bytes, those of its tagged ones last. */
    private static String fields(Object schema) throws Exception {
        Object[] fields = (Object[]) schema.getClass().getMethod("fields", new Class[0]).invoke(schema, new Object[0]);
        StringBuffer text = new StringBuffer();
        for (int i = 0; i < fields.length; i++) {
            Object field = fields[i].getClass().getField("def").get(fields[i]);
            String name = (String) field.getClass().getField("name").get(field);
            Object type = field.getClass().getField("type").get(field);
            text.append(i == 0 ? "" : ",").append(name).append(":").append(typeOf(type));
        }
        return text.toString();
    }

    private static String typeOf(Object type) throws Exception {
        if (type.getClass().getName().endsWith(".TaggedFields")) {
            Map known = (Map) type.getClass().getMethod("fields", new Class[0]).invoke(type, new Object[0]);
            StringBuffer text = new StringBuffer("tagged(");
            Iterator each = new TreeMap(known).entrySet().iterator();
            while (each.hasNext()) {
                Map.Entry entry = (Map.Entry) each.next();
                Object field = entry.getValue();
                text.append(text.length() == 7 ? "" : ",").append(entry.getKey()).append("=").append(field.getClass().getField("name").get(field)).append(":")
                    .append(typeOf(field.getClass().getField("type").get(field)));
            }
            return text.append(")").toString();
        }
        Method element;
        try {
            element = type.getClass().getMethod("arrayElementType", new Class[0]);
            element.setAccessible(true);
            Object inner = element.invoke(type, new Object[0]);
            if (inner instanceof java.util.Optional && ((java.util.Optional) inner).isPresent()) {
                return "[" + typeOf(((java.util.Optional) inner).get()) + "]";
            }
        } catch (NoSuchMethodException plain) {
            // no array
        }
        if (type.getClass().getName().endsWith(".Schema")) {
            return "{" + fields(type) + "}";
        }
        return type.toString();
    }

    private static void key(String hex) throws Exception {
        byte[] bytes = new byte[hex.equals("-") ? 0 : hex.length() / 2];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) Integer.parseInt(hex.substring(2 * i, 2 * i + 2), 16);
        }
        Class utils = Class.forName(COMMON + "utils.Utils");
        Integer hash = (Integer) utils.getMethod("murmur2", new Class[] {byte[].class}).invoke(null, new Object[] {bytes});
        System.out.println("key\t" + hex + "\t" + hash + "\t"
            + utils.getMethod("toPositive", new Class[] {Integer.TYPE}).invoke(null, new Object[] {hash}));
    }

    private static void group(String text) throws Exception {
        Class utils = Class.forName(COMMON + "utils.Utils");
        Object answer = utils.getMethod("abs", new Class[] {Integer.TYPE})
            .invoke(null, new Object[] {Integer.valueOf(text.hashCode())});
        System.out.println("group\t" + text + "\t" + answer);
    }

    private static void assign(String topics, String members) throws Exception {
        Class nodeType = Class.forName(COMMON + "Node");
        Class infoType = Class.forName(COMMON + "PartitionInfo");
        Object node = nodeType.getConstructor(new Class[] {Integer.TYPE, String.class, Integer.TYPE})
            .newInstance(new Object[] {Integer.valueOf(1), "localhost", Integer.valueOf(9092)});
        Object nodes = java.lang.reflect.Array.newInstance(nodeType, 1);
        java.lang.reflect.Array.set(nodes, 0, node);
        List infos = new ArrayList();
        String[] counts = topics.split(",");
        for (int i = 0; i < counts.length; i++) {
            String[] pair = counts[i].split("=");
            for (int number = 0; number < Integer.parseInt(pair[1]); number++) {
                infos.add(infoType.getConstructor(
                    new Class[] {String.class, Integer.TYPE, nodeType, nodes.getClass(), nodes.getClass()})
                    .newInstance(new Object[] {pair[0], Integer.valueOf(number), node, nodes, nodes}));
            }
        }
        Class clusterType = Class.forName(COMMON + "Cluster");
        Object cluster = clusterType.getConstructor(
            new Class[] {String.class, java.util.Collection.class, java.util.Collection.class, Set.class, Set.class})
            .newInstance(new Object[] {"cluster", Collections.singletonList(node), infos, new HashSet(), new HashSet()});
        Class plugin = Class.forName(CONSUMER + "ConsumerPartitionAssignor");
        Class subscriptionType = Class.forName(CONSUMER + "ConsumerPartitionAssignor$Subscription");
        Class groupType = Class.forName(CONSUMER + "ConsumerPartitionAssignor$GroupSubscription");
        for (int i = 0; i < ASSIGNORS.length; i++) {
            Map group = new HashMap();
            String[] each = members.split(",");
            for (int m = 0; m < each.length; m++) {
                String[] pair = each[m].split(":");
                List names = new ArrayList(java.util.Arrays.asList((Object[]) pair[1].split(";")));
                group.put(pair[0], subscriptionType.getConstructor(new Class[] {List.class}).newInstance(new Object[] {names}));
            }
            Object assignor = Class.forName(CONSUMER + ASSIGNORS[i] + "Assignor").getConstructor(new Class[0])
                .newInstance(new Object[0]);
            Object wanted = groupType.getConstructor(new Class[] {Map.class}).newInstance(new Object[] {group});
            Object found = plugin.getMethod("assign", new Class[] {clusterType, groupType})
                .invoke(assignor, new Object[] {cluster, wanted});
            Map owners = new TreeMap((Map) found.getClass().getMethod("groupAssignment", new Class[0])
                .invoke(found, new Object[0]));
            StringBuffer text = new StringBuffer();
            Iterator member = owners.entrySet().iterator();
            while (member.hasNext()) {
                Map.Entry entry = (Map.Entry) member.next();
                List places = (List) entry.getValue().getClass().getMethod("partitions", new Class[0])
                    .invoke(entry.getValue(), new Object[0]);
                List sorted = new ArrayList();
                for (int p = 0; p < places.size(); p++) {
                    sorted.add(places.get(p).toString());
                }
                Collections.sort(sorted);
                text.append(text.length() == 0 ? "" : ",").append(entry.getKey()).append(":");
                for (int p = 0; p < sorted.size(); p++) {
                    text.append(p == 0 ? "" : ";").append(sorted.get(p));
                }
            }
            System.out.println("assign\t" + topics + "\t" + members + "\t" + ASSIGNORS[i] + "\t" + text);
        }
    }
}
