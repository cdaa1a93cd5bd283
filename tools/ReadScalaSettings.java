import java.io.File;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;

import org.codehaus.janino.SimpleCompiler;

/**
 * Prints every setting that the Scala classes of an old release ask for, in the form of ReadSettings.
 *
 * They have no ConfigDef: their constructors ask for one property after the other. So they are constructed from
 * properties that write down each question: VerifiableProperties.java, which takes the place of the released class.
 *
 * The first argument is that file, each other one side=class. What must be given is given: a group.id of "g", so that
 * a default that is the group.id reads "g". The class of a topic is asked for its names; the defaults of most are the
 * broker's, as KafkaServer.createLogManager of 0.8.2 passes them on.
 */
public class ReadScalaSettings extends URLClassLoader {
    private static final String PROPERTIES = "kafka.utils.VerifiableProperties";

    private static final String[][] TOPIC_FROM_BROKER = {
        {"delete.retention.ms", "logCleanerDeleteRetentionMs"},
        {"file.delete.delay.ms", "logDeleteDelayMs"},
        {"flush.messages", "logFlushIntervalMessages"},
        {"flush.ms", "logFlushIntervalMs"},
        {"index.interval.bytes", "logIndexIntervalBytes"},
        {"max.message.bytes", "messageMaxBytes"},
        {"min.cleanable.dirty.ratio", "logCleanerMinCleanRatio"},
        {"retention.bytes", "logRetentionBytes"},
        {"retention.ms", "logRetentionTimeMillis"},
        {"segment.bytes", "logSegmentBytes"},
        {"segment.index.bytes", "logIndexSizeMaxBytes"},
        {"segment.jitter.ms", "logRollTimeJitterMillis"},
        {"segment.ms", "logRollTimeMillis"},
    };

    private final Class<?> properties;

    /** Loads what the class path has afresh, with our class in the place of the released one. */
    private ReadScalaSettings(String source) throws Exception {
        super(classPath(), ClassLoader.getSystemClassLoader().getParent());
        SimpleCompiler compiler = new SimpleCompiler();
        compiler.setParentClassLoader(ClassLoader.getSystemClassLoader());
        compiler.cookFile(new File(source));
        byte[] code = (byte[]) compiler.getBytecodes().get(PROPERTIES);
        properties = defineClass(PROPERTIES, code, 0, code.length);
    }

    private static URL[] classPath() throws Exception {
        String[] paths = System.getProperty("java.class.path").split(File.pathSeparator);
        URL[] urls = new URL[paths.length];
        for (int i = 0; i < paths.length; i++) {
            urls[i] = new File(paths[i]).toURI().toURL();
        }
        return urls;
    }

    public static void main(String[] arguments) throws Exception {
        ReadScalaSettings reader = new ReadScalaSettings(arguments[0]);
        for (int i = 1; i < arguments.length; i++) {
            String[] words = arguments[i].split("=");
            boolean isTopic = words[0].equals("topic");
            Map<?, ?> asked = isTopic ? reader.askedByTopic(words[1]) : reader.askedBy(words[1], new Object[1]);
            Object[] names = asked.keySet().toArray();
            for (int j = 0; j < names.length; j++) {
                System.out.println(words[0] + "\t" + names[j] + "\t" + asked.get(names[j]));
            }
        }
    }

    /** What a class asks for as it is constructed; nothing if the release does not have it, or it has a ConfigDef. */
    private Map<?, ?> askedBy(String className, Object[] constructed) throws Exception {
        Properties given = new Properties();
        given.setProperty("broker.id", "1");
        given.setProperty("zookeeper.connect", "localhost:2181");
        given.setProperty("group.id", "g");
        given.setProperty("metadata.broker.list", "localhost:9092");
        Constructor<?> constructor;
        try {
            constructor = loadClass(className).getDeclaredConstructor(new Class<?>[] {properties});
        } catch (ClassNotFoundException absent) {
            return new TreeMap<String, String>();
        } catch (NoSuchMethodException newer) {
            return new TreeMap<String, String>();
        }
        Object recording = properties.getConstructor(new Class<?>[] {Properties.class}).newInstance(given);
        constructor.setAccessible(true);
        constructed[0] = constructor.newInstance(new Object[] {recording});
        return (Map<?, ?>) properties.getField("asked").get(recording);
    }

    private Map<?, ?> askedByTopic(String className) throws Exception {
        final TreeMap asked = new TreeMap();
        Class<?> companion;
        Method fromProps;
        try {
            companion = loadClass(className + "$");
            fromProps = companion.getMethod("fromProps", new Class<?>[] {Properties.class});
        } catch (ClassNotFoundException absent) {
            return asked;
        } catch (NoSuchMethodException newer) {
            return asked;
        }
        Properties recording = new Properties() {
            public String getProperty(String name, String fallback) {
                asked.put(name, "STRING\tvalue\t" + fallback + "\t\t\t");
                return fallback;
            }
        };
        fromProps.invoke(companion.getField("MODULE$").get(null), new Object[] {recording});
        Object[] broker = new Object[1];
        askedBy("kafka.server.KafkaConfig", broker);
        for (int i = 0; i < TOPIC_FROM_BROKER.length; i++) {
            Method getter = broker[0].getClass().getMethod(TOPIC_FROM_BROKER[i][1], new Class<?>[0]);
            asked.put(TOPIC_FROM_BROKER[i][0], "STRING\tvalue\t" + getter.invoke(broker[0], new Object[0]) + "\t\t\t");
        }
        return asked;
    }
}
