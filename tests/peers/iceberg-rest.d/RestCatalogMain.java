// In this package because the fixture's adapter with credential vending is package-private.
package org.apache.iceberg.rest;

import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletOutputStream;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.WriteListener;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpServletResponseWrapper;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.apache.hadoop.conf.Configuration;
import org.apache.iceberg.CatalogUtil;
import org.apache.iceberg.catalog.Catalog;
import org.eclipse.jetty.ee10.servlet.FilterHolder;
import org.eclipse.jetty.ee10.servlet.ServletContextHandler;
import org.eclipse.jetty.ee10.servlet.ServletHolder;
import org.eclipse.jetty.server.Server;

/**
 * Iceberg's own REST catalog test server on a loopback address, with a request log and injected failures.
 *
 * <p>Arguments: HOST PORT, then catalog properties k=v. `token=T` asks every request for `Authorization: Bearer T`;
 * `oauth=ID:SECRET` asks for a token that /v1/oauth/tokens has issued to that client.
 *
 * <pre>
 * POST   /__fault?method=POST&path=REGEX&status=503&when=before|after&times=1&delay=MS
 *        when=after lets the catalog do the work first and then hides the answer: a commit of unknown state
 *        status=0 only delays; status=-1 breaks the connection
 * DELETE /__fault          forget all faults
 * POST   /__expire         the tokens that were issued so far are refused from now on (401)
 * GET    /__log            "METHOD PATH STATUS" of each request so far;  DELETE /__log empties it
 * </pre>
 */
public final class RestCatalogMain {
  private static final class Fault {
    String method;
    Pattern path;
    int status;
    boolean after;
    int times;
    long delay;
  }

  public static void main(String[] args) throws Exception {
    Map<String, String> props = new HashMap<>();
    for (int i = 2; i < args.length; i++) {
      int eq = args[i].indexOf('=');
      props.put(args[i].substring(0, eq), args[i].substring(eq + 1));
    }
    String token = props.remove("token");
    String client = props.remove("oauth");
    props.putIfAbsent("catalog-impl", "org.apache.iceberg.jdbc.JdbcCatalog");
    props.putIfAbsent("jdbc.schema-version", "V1");
    Catalog catalog = CatalogUtil.buildIcebergCatalog("rest_backend", props, new Configuration());
    RESTCatalogAdapter adapter =
        new RESTServerCatalogAdapter(new RESTCatalogServer.CatalogContext(catalog, props));
    ServletContextHandler context = new ServletContextHandler();
    context.addServlet(new ServletHolder(new RESTCatalogServlet(adapter)), "/*");
    context.addFilter(new FilterHolder(new Control(token, client)), "/*", EnumSet.of(DispatcherType.REQUEST));
    Server server = new Server(new InetSocketAddress(args[0], Integer.parseInt(args[1])));
    server.setHandler(context);
    server.start();
    System.out.println("ready on " + server.getURI());
    server.join();
  }

  private static final class Control implements Filter {
    private final String token;
    private final String client;
    private int issued = 0;
    private int expired = 0;
    private final List<Fault> faults = new ArrayList<>();
    private final List<String> log = new ArrayList<>();

    Control(String token, String client) {
      this.token = token;
      this.client = client;
    }

    private synchronized boolean allowed(HttpServletRequest req) {
      String header = req.getHeader("Authorization");
      if (client != null) {
        String prefix = "Bearer issued-";
        return header != null && header.startsWith(prefix) && Integer.parseInt(header.substring(prefix.length())) > expired;
      }
      return token == null || ("Bearer " + token).equals(header);
    }

    private synchronized int issue(HttpServletRequest req, HttpServletResponse res) throws IOException {
      String who = req.getParameter("client_id") + ":" + req.getParameter("client_secret");
      if (!"client_credentials".equals(req.getParameter("grant_type")) || !who.equals(client)) {
        res.setStatus(400);
        res.getWriter().write("{\"error\":\"invalid_client\",\"error_description\":\"wrong credential\"}");
        return 400;
      }
      issued++;
      res.setContentType("application/json");
      res.getWriter().write("{\"access_token\":\"issued-" + issued + "\",\"token_type\":\"bearer\",\"expires_in\":3600}");
      return 200;
    }

    @Override
    public void doFilter(ServletRequest q, ServletResponse s, FilterChain chain) throws IOException, ServletException {
      HttpServletRequest req = (HttpServletRequest) q;
      HttpServletResponse res = (HttpServletResponse) s;
      String path = req.getRequestURI();
      if (path.startsWith("/__")) {
        control(path, req, res);
        return;
      }
      int status;
      Fault f = null;
      if (client != null && path.endsWith("/oauth/tokens")) {
        status = issue(req, res);
      } else if (!path.endsWith("/oauth/tokens") && !allowed(req)) {
        status = error(res, 401, "NotAuthorizedException", "bad or missing bearer token");
      } else if ((f = take(req.getMethod(), path)) == null) {
        chain.doFilter(req, res);
        status = res.getStatus();
      } else {
        if (f.delay > 0) sleep(f.delay);
        if (f.status == 0) {
          chain.doFilter(req, res);
          status = res.getStatus();
        } else {
          if (f.after) chain.doFilter(req, new Discard(res));
          if (f.status < 0) {
            // Jetty closes the connection without an answer when the response is aborted
            note(req.getMethod() + " " + path + " broken");
            org.eclipse.jetty.ee10.servlet.ServletApiRequest api = (org.eclipse.jetty.ee10.servlet.ServletApiRequest) req;
            api.getRequest().getConnectionMetaData().getConnection().getEndPoint().close();
            return;
          }
          status = error(res, f.status, "ServiceFailureException", "injected fault");
        }
      }
      note(req.getMethod() + " " + path + " " + status);
    }

    private static void sleep(long ms) {
      try {
        Thread.sleep(ms);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }

    private void note(String line) {
      synchronized (log) {
        log.add(line);
      }
    }

    private Fault take(String method, String path) {
      synchronized (faults) {
        for (Fault f : faults) {
          if (f.times > 0 && f.method.equals(method) && f.path.matcher(path).find()) {
            f.times--;
            return f;
          }
        }
      }
      return null;
    }

    private static int error(HttpServletResponse res, int status, String type, String message) throws IOException {
      res.setStatus(status);
      res.setContentType("application/json");
      res.getWriter().write("{\"error\":{\"message\":\"" + message + "\",\"type\":\"" + type + "\",\"code\":" + status + "}}");
      return status;
    }

    private void control(String path, HttpServletRequest req, HttpServletResponse res) throws IOException {
      boolean drop = req.getMethod().equals("DELETE");
      if (path.equals("/__log")) {
        synchronized (log) {
          if (drop) log.clear();
          for (String l : log) res.getWriter().println(l);
        }
      } else if (path.equals("/__expire")) {
        synchronized (this) {
          expired = issued;
        }
      } else if (path.equals("/__fault") && drop) {
        synchronized (faults) {
          faults.clear();
        }
      } else if (path.equals("/__fault")) {
        Fault f = new Fault();
        f.method = or(req.getParameter("method"), "POST");
        f.path = Pattern.compile(or(req.getParameter("path"), ""));
        f.status = Integer.parseInt(or(req.getParameter("status"), "503"));
        f.after = "after".equals(req.getParameter("when"));
        f.times = Integer.parseInt(or(req.getParameter("times"), "1"));
        f.delay = Long.parseLong(or(req.getParameter("delay"), "0"));
        synchronized (faults) {
          faults.add(f);
        }
      } else {
        res.setStatus(404);
      }
    }

    private static String or(String v, String other) {
      return v == null ? other : v;
    }
  }

  /** Lets a servlet answer into nothing. */
  private static final class Discard extends HttpServletResponseWrapper {
    Discard(HttpServletResponse r) {
      super(r);
    }

    @Override
    public ServletOutputStream getOutputStream() {
      return new ServletOutputStream() {
        @Override
        public void write(int b) {}

        @Override
        public boolean isReady() {
          return true;
        }

        @Override
        public void setWriteListener(WriteListener l) {}
      };
    }

    @Override
    public PrintWriter getWriter() {
      return new PrintWriter(getOutputStream());
    }

    @Override
    public void setHeader(String n, String v) {}

    @Override
    public void flushBuffer() {}
  }
}
