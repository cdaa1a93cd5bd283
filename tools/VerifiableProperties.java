package kafka.utils;

import java.util.Properties;
import java.util.TreeMap;

import kafka.message.CompressionCodec;
import scala.Function1;
import scala.Tuple2;

/**
 * Stands in for the class of this name of an old release: each question for a property is written down in `asked`.
 *
 * The configuration classes construct themselves from it. They name the default, and the range, as they ask; they get
 * the default, or what `given` has. A line of `asked` holds, for a name, the fields of ReadSettings behind it.
 */
public class VerifiableProperties {
    public final TreeMap asked = new TreeMap();

    private final Properties given;

    public VerifiableProperties(Properties given) {
        this.given = given;
    }

    /** The first question counts, unless it was only whether the property is there. */
    private void note(String name, String type, String kind, Object value, Tuple2 range) {
        if (!asked.containsKey(name) || ((String) asked.get(name)).startsWith("\t")) {
            String limit = range == null ? "" : "range " + range._1() + " " + range._2();
            asked.put(name, type + "\t" + kind + "\t" + (value == null ? "" : value) + "\t" + limit + "\t\t");
        }
    }

    private void optional(String name, String type, Object value, Tuple2 range) {
        note(name, type, value == null ? "unset" : "value", value, range);
    }

    private String required(String name, String type, Tuple2 range) {
        note(name, type, "required", null, range);
        return given.getProperty(name);
    }

    public Properties props() {
        return given;
    }

    public boolean containsKey(String name) {
        note(name, "", "unset", null, null);
        return given.containsKey(name);
    }

    public String getProperty(String name) {
        return given.getProperty(name);
    }

    public int getInt(String name) {
        return Integer.parseInt(required(name, "INT", null));
    }

    public int getInt(String name, int fallback) {
        optional(name, "INT", Integer.valueOf(fallback), null);
        return fallback;
    }

    public int getIntInRange(String name, Tuple2 range) {
        return Integer.parseInt(required(name, "INT", range));
    }

    public int getIntInRange(String name, int fallback, Tuple2 range) {
        optional(name, "INT", Integer.valueOf(fallback), range);
        return fallback;
    }

    public short getShort(String name, short fallback) {
        optional(name, "SHORT", Short.valueOf(fallback), null);
        return fallback;
    }

    public short getShortInRange(String name, short fallback, Tuple2 range) {
        optional(name, "SHORT", Short.valueOf(fallback), range);
        return fallback;
    }

    public long getLong(String name, long fallback) {
        optional(name, "LONG", Long.valueOf(fallback), null);
        return fallback;
    }

    public long getLongInRange(String name, long fallback, Tuple2 range) {
        optional(name, "LONG", Long.valueOf(fallback), range);
        return fallback;
    }

    public double getDouble(String name, double fallback) {
        optional(name, "DOUBLE", Double.valueOf(fallback), null);
        return fallback;
    }

    public boolean getBoolean(String name, boolean fallback) {
        optional(name, "BOOLEAN", Boolean.valueOf(fallback), null);
        return fallback;
    }

    public String getString(String name) {
        return required(name, "STRING", null);
    }

    public String getString(String name, String fallback) {
        optional(name, "STRING", fallback, null);
        return fallback;
    }

    public scala.collection.Map getMap(String name, Function1 valid) {
        optional(name, "LIST", "", null);
        return (scala.collection.Map) scala.collection.immutable.Map$.MODULE$.empty();
    }

    public Function1 getMap$default$2() {
        return null;
    }

    public CompressionCodec getCompressionCodec(String name, CompressionCodec fallback) {
        optional(name, "STRING", fallback.name(), null);
        return fallback;
    }

    public void verify() {
    }
}
