import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;

/**
 * Prints every setting that the ConfigDefs of a released Kafka define, a line each, its fields separated by tabs:
 * side, name, type, kind of default, default, limit, whether it must not be empty, whether it is internal.
 *
 * An argument is side=class#setting. A class may hold several ConfigDefs; the one with that setting in it is read.
 * A class that the release does not have is passed over. Kinds of default: "required" (there is none), "unset" (null),
 * "value". A limit is "range", smallest, largest; "in" and the allowed values; "in any case" and values in any case;
 * or "text" and what the validator says of itself, if that begins as a list. settings.py puts it together.
 */
public class ReadSettings {
    private static final String CONFIG_DEF = "org.apache.kafka.common.config.ConfigDef";

    public static void main(String[] arguments) throws Exception {
        for (int i = 0; i < arguments.length; i++) {
            String[] words = arguments[i].split("[=#]");
            Map<?, ?> keys = keysIn(words[1], words[2]);
            if (keys != null) {
                print(words[0], keys);
            }
        }
    }

    /** The definitions in a static field or method of a class, or in one of its Scala companion. */
    private static Map<?, ?> keysIn(String className, String setting) throws Exception {
        String[] names = {className, className + "$"};
        for (int i = 0; i < names.length; i++) {
            Class<?> type;
            try {
                type = Class.forName(names[i]);
            } catch (ClassNotFoundException absent) {
                continue;
            }
            List<Object> found = definitionsIn(type);
            for (int j = 0; j < found.size(); j++) {
                Map<?, ?> keys = keysOf(found.get(j));
                if (keys.containsKey(setting)) {
                    return keys;
                }
            }
        }
        return null;
    }

    private static List<Object> definitionsIn(Class<?> type) throws Exception {
        List<Object> found = new ArrayList<Object>();
        Object companion = null;
        Field[] fields = type.getDeclaredFields();
        for (int i = 0; i < fields.length; i++) {
            if (fields[i].getName().equals("MODULE$")) {
                companion = fields[i].get(null);
            }
        }
        for (int i = 0; i < fields.length; i++) {
            boolean isStatic = Modifier.isStatic(fields[i].getModifiers());
            if (configDefAbove(fields[i].getType()) != null && (isStatic || companion != null)) {
                fields[i].setAccessible(true);
                Object value = fields[i].get(isStatic ? null : companion);
                if (value != null) {
                    found.add(value);
                }
            }
        }
        Method[] methods = type.getMethods();
        for (int i = 0; i < methods.length; i++) {
            boolean isStatic = Modifier.isStatic(methods[i].getModifiers());
            boolean isMeant = methods[i].getName().equals("configDef") && methods[i].getParameterTypes().length == 0;
            if (isMeant && configDefAbove(methods[i].getReturnType()) != null && (isStatic || companion != null)) {
                found.add(methods[i].invoke(isStatic ? null : companion));
            }
        }
        return found;
    }

    /** ConfigDef itself, if that is the class or one it derives from (LogConfig has a class of its own); else null. */
    private static Class<?> configDefAbove(Class<?> type) {
        Class<?> each = type;
        while (each != null && !each.getName().equals(CONFIG_DEF)) {
            each = each.getSuperclass();
        }
        return each;
    }

    private static Map<?, ?> keysOf(Object definition) throws Exception {
        Field keys = configDefAbove(definition.getClass()).getDeclaredField("configKeys");
        keys.setAccessible(true);
        return (Map<?, ?>) keys.get(definition);
    }

    private static void print(String side, Map<?, ?> keys) throws Exception {
        Field none = Class.forName(CONFIG_DEF).getDeclaredField("NO_DEFAULT_VALUE");
        none.setAccessible(true);
        Object required = none.get(null);
        List<String> lines = new ArrayList<String>();
        Object[] all = keys.values().toArray();
        for (int i = 0; i < all.length; i++) {
            Object value = fieldOf(all[i], "defaultValue");
            String kind = value == required ? "required" : value == null ? "unset" : "value";
            String text = kind.equals("value") ? textOf(value) : "";
            Object validator = fieldOf(all[i], "validator");
            String limit = validator == null ? "" : limitOf(validator);
            String notEmpty = validator != null && mustNotBeEmpty(validator) ? "not empty" : "";
            String internal = Boolean.TRUE.equals(fieldOf(all[i], "internalConfig")) ? "internal" : "";
            lines.add(side + "\t" + fieldOf(all[i], "name") + "\t" + fieldOf(all[i], "type") + "\t" + kind + "\t" + text
                + "\t" + limit + "\t" + notEmpty + "\t" + internal);
        }
        Collections.sort(lines);
        for (int i = 0; i < lines.size(); i++) {
            System.out.println(lines.get(i));
        }
    }

    private static String limitOf(Object validator) throws Exception {
        String kind = validator.getClass().getSimpleName();
        if (kind.equals("Range")) {
            return "range " + fieldOf(validator, "min") + " " + fieldOf(validator, "max");
        }
        if (kind.equals("ValidString")) {
            return "in " + textOf(fieldOf(validator, "validStrings"));
        }
        if (kind.equals("CaseInsensitiveValidString")) {
            return "in any case " + textOf(fieldOf(validator, "validStrings"));
        }
        if (kind.equals("ValidList")) {
            String values = textOf(fieldOf(fieldOf(validator, "validString"), "validStrings"));
            return values.isEmpty() ? "" : "in " + values;
        }
        String text = String.valueOf(validator);
        return text.startsWith("[") ? "text " + text : "";
    }

    private static boolean mustNotBeEmpty(Object validator) throws Exception {
        String kind = validator.getClass().getSimpleName();
        return kind.startsWith("NonEmptyString") || Boolean.FALSE.equals(fieldOf(validator, "isEmptyAllowed"));
    }

    /** What a private field holds; null where the class of this release has no such field. */
    private static Object fieldOf(Object owner, String name) throws Exception {
        Field field;
        try {
            field = owner.getClass().getDeclaredField(name);
        } catch (NoSuchFieldException absent) {
            return null;
        }
        field.setAccessible(true);
        return field.get(owner);
    }

    private static String textOf(Object value) {
        if (value instanceof Class) {
            return ((Class<?>) value).getName();
        }
        if (value instanceof Collection) {
            StringBuilder text = new StringBuilder();
            Object[] all = ((Collection<?>) value).toArray();
            for (int i = 0; i < all.length; i++) {
                text.append(i == 0 ? "" : ",").append(textOf(all[i]));
            }
            return text.toString();
        }
        return String.valueOf(value).replace("\n", "\\n").replace("\t", "\\t");
    }
}
