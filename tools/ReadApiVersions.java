import java.lang.reflect.Field;
import java.lang.reflect.Method;

/**
 * Prints the oldest version of each request that a release still knows, a line each: number of the API, name, version.
 *
 * An API that is named but has no version is left out: brokers from 4.0 on refuse what only ZooKeeper needed. Releases
 * before 0.10.0 know every version from 0 on.
 */
public class ReadApiVersions {
    private static final String PROTOCOL = "org.apache.kafka.common.protocol.";

    public static void main(String[] arguments) throws Exception {
        Class<?> keys = Class.forName(PROTOCOL + "ApiKeys");
        Object[] all = keys.getEnumConstants();
        for (int i = 0; i < all.length; i++) {
            Number id = (Number) keys.getField("id").get(all[i]);
            if (!Boolean.FALSE.equals(answer(keys, "hasValidVersion", all[i]))) {
                Object oldest = answer(keys, "oldestVersion", all[i]);
                Object version = oldest == null ? oldestInTable(id.intValue()) : oldest;
                System.out.println(id + "\t" + keys.getField("name").get(all[i]) + "\t" + version);
            }
        }
    }

    /** What a method without arguments answers; null where the class has no such method. */
    private static Object answer(Class<?> type, String name, Object owner) throws Exception {
        Method method;
        try {
            method = type.getMethod(name, new Class<?>[0]);
        } catch (NoSuchMethodException absent) {
            return null;
        }
        return method.invoke(owner, new Object[0]);
    }

    private static Object oldestInTable(int id) throws Exception {
        Field table;
        try {
            table = Class.forName(PROTOCOL + "Protocol").getDeclaredField("MIN_VERSIONS");
        } catch (NoSuchFieldException older) {
            return "0";
        }
        table.setAccessible(true);
        return Short.valueOf(((short[]) table.get(null))[id]);
    }
}
