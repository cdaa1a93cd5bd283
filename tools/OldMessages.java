import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.util.Base64;
import org.apache.kafka.common.record.CompressionType;
import org.apache.kafka.common.record.MemoryRecords;

/**
 * Messages of format 0 or 1 as the released classes write them, in base64: "MAGIC CODEC BASE COUNT". What is
 * compressed stands in one message. Clients before 0.11 write the format of their time, whatever MAGIC says.
 */
public class OldMessages {
    private static final long FIRST_MS = 1500000000000L;
    private static final Object[] NOTHING = new Object[0];

    public static void main(String[] words) throws Exception {
        byte magic = Byte.parseByte(words[0]);
        CompressionType codec = CompressionType.forName(words[1]);
        long base = Long.parseLong(words[2]);
        int count = Integer.parseInt(words[3]);
        ByteBuffer buffer = ByteBuffer.allocate(1 << 16);
        Method old = method(MemoryRecords.class, "emptyRecords", 2);
        Object builder = null;
        if (old != null) {
            builder = old.invoke(null, new Object[] {buffer, codec});
        } else {
            builder = builder(buffer, magic, codec, base);
        }
        for (int i = 0; i < count; i++) {
            byte[] key = ("key-" + i).getBytes();
            byte[] value = ("value " + i + " of an order that repeats, repeats, repeats").getBytes();
            append(builder, base + i, FIRST_MS + 1000 * i, i % 3 == 0 ? null : key, i % 4 == 3 ? null : value);
        }
        method(builder.getClass(), "close", 0).invoke(builder, NOTHING);
        Object records = builder;
        if (old == null) {
            records = method(builder.getClass(), "build", 0).invoke(builder, NOTHING);
        }
        ByteBuffer written = (ByteBuffer) method(records.getClass(), "buffer", 0).invoke(records, NOTHING);
        byte[] bytes = new byte[written.remaining()];
        written.get(bytes);
        System.out.println(Base64.getEncoder().encodeToString(bytes));
    }

    private static Object builder(ByteBuffer buffer, byte magic, CompressionType codec, long base) throws Exception {
        Method[] all = MemoryRecords.class.getMethods();
        for (int i = 0; i < all.length; i++) {
            Method each = all[i];
            Class[] takes = each.getParameterTypes();
            if (each.getName().equals("builder") && takes.length == 5 && takes[1] == Byte.TYPE && takes[4] == Long.TYPE) {
                Object time = takes[3].getField("CREATE_TIME").get(null);
                Object how = codec;
                if (takes[2] != CompressionType.class) {
                    how = compression(takes[2], codec);
                }
                return each.invoke(null, new Object[] {buffer, new Byte(magic), how, time, new Long(base)});
            }
        }
        throw new IllegalStateException("no builder of messages");
    }

    private static Object compression(Class type, CompressionType codec) throws Exception {
        Object builder = type.getMethod("of", CompressionType.class).invoke(null, codec);
        return method(builder.getClass(), "build", 0).invoke(builder, NOTHING);
    }

    private static void append(Object to, long offset, long timestampMs, byte[] key, byte[] value) throws Exception {
        String[] names = {"appendWithOffset", "append"};
        Method[] all = to.getClass().getMethods();
        for (int n = 0; n < names.length; n++) {
            for (int i = 0; i < all.length; i++) {
                Method each = all[i];
                Class[] takes = each.getParameterTypes();
                if (!each.getName().equals(names[n]) || takes.length < 3 || takes[takes.length - 1] != byte[].class) {
                    continue;
                }
                if (takes.length == 4 && takes[0] == Long.TYPE && takes[1] == Long.TYPE) {
                    each.invoke(to, new Object[] {new Long(offset), new Long(timestampMs), key, value});
                    return;
                }
                if (takes.length == 3 && takes[0] == Long.TYPE) {
                    each.invoke(to, new Object[] {new Long(offset), key, value});
                    return;
                }
            }
        }
        throw new IllegalStateException("nothing appends a message");
    }

    private static Method method(Class of, String name, int count) {
        Method[] all = of.getMethods();
        for (int i = 0; i < all.length; i++) {
            Method each = all[i];
            if (each.getName().equals(name) && each.getParameterTypes().length == count) {
                each.setAccessible(true);
                return each;
            }
        }
        return null;
    }
}
