import org.apache.kafka.common.protocol.Errors;

/** Prints the number and the name of every error that Kafka's protocol knows. */
public class PrintErrors {
    public static void main(String[] words) {
        Errors[] all = Errors.values();
        for (int i = 0; i < all.length; i++) {
            System.out.println(all[i].code() + " " + all[i].name());
        }
    }
}
