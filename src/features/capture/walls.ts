import { Failure } from '../../core/failure.ts'
import { limitSource } from './article-source.ts'
import { countWords } from './count-words.ts'

/** A page that came, with what was read out of it. */
export interface WallFacts {
  /** Address that was asked for. */
  url: string
  /** Address that answered, after redirects. */
  finalUrl: string
  status: number
  title: string
  /** The article as it was extracted. */
  text: string
  html: string
}

/** Below this many words a page may be a wall; articles are hardly ever shorter, walls hardly ever longer. */
const SHORT_PAGE = 250
/** Characters of text past which nothing is counted any more: it is no wall. */
const LONG_PAGE = 50_000

/** As far as a page is looked at; walls are small. */
const MAX_MARKUP = 400_000

const CHALLENGE_TITLE =
  /^(?:just a moment\b|attention required!?\b|please wait\b.*|checking your browser|access (?:to this page has been )?denied|are you (?:a )?(?:robot|human)|human verification|security check|robot check|ddos-guard|verify(?:ing)? you are human|pardon our interruption|bot verification|captcha)/i
const CHALLENGE_TEXT =
  /\b(?:verify(?:ing)? (?:that )?you(?:'|’)?(?: a)?re (?:not a (?:ro)?bot|(?:a )?human)|checking (?:if the site connection is secure|your browser)|complete the (?:security check|captcha)|enable javascript and cookies to continue|unusual (?:traffic|activity) from your|you have been blocked|prove (?:that )?you(?:'|’)re (?:not a robot|human)|press (?:&|and) hold)/i
const CHALLENGE_MARKUP =
  /cf-(?:challenge|turnstile|chl)|challenge-platform|id="challenge-(?:form|running|error)|px-captcha|captcha-delivery\.com|_Incapsula_Resource|ddos-guard|h-captcha|g-recaptcha/i

const LOGIN_ADDRESS =
  /\/(?:log-?in|sign-?in|signin|auth(?:enticate|orize)?|sso|oauth2?|session\/new|account\/login|accounts\/login|users\/sign_in|wp-login\.php|register|signup|subscribe|paywall)(?:[/.?#]|$)/i
const LOGIN_TITLE =
  /^(?:(?:please )?(?:log|sign) ?-?in\b|login\b|sign ?up\b|(?:anmelden|einloggen|anmeldung|connexion|se connecter|identifiez-vous|iniciar sesión|acceder|entrar|accedi|inloggen|logga in|вход|войти|登录|登入|ログイン|로그인)(?=\W|$))/iu
const LOGIN_TEXT =
  /\b(?:(?:please |you (?:must|need to|have to) )(?:log|sign) ?in|(?:log|sign) in (?:to (?:continue|read|view|see|your account)|or (?:sign|register|create|join))|(?:create|need) an? (?:free )?account (?:to|before)|subscribe (?:now )?to (?:continue|read|keep reading|unlock)|(?:this (?:article|content|post|story) is |exclusive )(?:only )?(?:for|available to) (?:our )?(?:subscribers|members)|already (?:a|have an?) (?:subscriber|member|account|subscription)\b.{0,40}(?:log|sign) ?in|forgot (?:your )?password)/i
const PASSWORD_FIELD = /<input\b[^>]*\btype\s*=\s*["']?password/i

const COOKIE_ADDRESS = /(?:^|[./-])(?:consent|cookie-?(?:wall|consent)|privacy-?(?:gate|wall))\b/i
const COOKIE_TITLE =
  /^(?:before you continue|bevor sie|avant de (?:continuer|poursuivre)|antes de continuar|we value your privacy|your privacy (?:choices|matters)|cookie (?:consent|settings|wall|policy)|(?:privacy|cookie)-?einstellungen)/i
const COOKIE_TEXT =
  /\b(?:(?:accept|reject|allow|manage) (?:all )?(?:cookies|and continue)|accept all|reject all|we (?:and our (?:\d+ )?partners )?use cookies|consent to (?:the use of )?cookies|alle akzeptieren|tout accepter|aceptar todo)/gi

const MISSING_TITLE =
  /^\W*(?:(?:error )?404\b|(?:page|article|post|file|content) (?:not found|cannot be found|doesn.t exist|no longer (?:exists|available))|not found\b|(?:oops|sorry|uh[- ]oh)\b.{0,40}(?:not? (?:be )?found|doesn.t exist|missing|gone)|we can.t find (?:that|the|this) page|seite nicht gefunden|page (?:introuvable|non trouvée)|página no encontrada|página não encontrada|pagina non trovata|pagina niet gevonden|страница не найдена|ページが見つかりません|页面不存在|找不到页面)/i
const MISSING_TEXT =
  /\b(?:(?:the|this|that) (?:page|article|url|link|content|post|address)(?: that)?(?: you(?:'|’)?(?:re| are| were)? (?:looking|trying|requested|request)[^.]{0,40})? (?:(?:could not|couldn.t|can ?not|can.t|was not|wasn.t) be? ?found|was not found|does(?: not|n.t) exist|(?:may|might) have (?:been )?(?:moved|removed|deleted)|(?:is|has been) (?:no longer available|removed|deleted))|404 (?:error|not found|page)|error 404|page not found)/i

/**
 * Recognises a page that stands before the article or in its place: a challenge for robots (`page_refused`), a login or
 * subscription (`login_required`), a consent to cookies (`page_refused`), a "not found" sent as success (`page_not_found`).
 * Null for everything else. It needs a short text and two signs at least, so that an article about any of these passes.
 */
export function recogniseWall(facts: WallFacts): Failure | null {
  if (facts.text.length > LONG_PAGE) return null
  const words = countWords(facts.text)
  if (words >= SHORT_PAGE) return null
  const title = facts.title.trim()
  const head = facts.html.slice(0, MAX_MARKUP)
  // Every tag is closed in it, so that patterns over tags stay linear on hostile pages.
  const markup = limitSource(head).html
  const shown = visibleText(markup)
  const says = (pattern: RegExp) => pattern.test(facts.text) || pattern.test(shown)
  const wasSentElsewhere = pathOf(facts.finalUrl) !== pathOf(facts.url)

  const challenge = count(CHALLENGE_TITLE.test(title), says(CHALLENGE_TEXT), CHALLENGE_MARKUP.test(head))
  if (challenge >= 2 && (CHALLENGE_TITLE.test(title) || says(CHALLENGE_TEXT))) return challenged()

  const isMissingTitle = MISSING_TITLE.test(title)
  const missing = count(
    isMissingTitle,
    says(MISSING_TEXT),
    words < 60,
    isFrontPage(facts) && wasSentElsewhere,
  )
  if (missing >= 2 && (isMissingTitle || (says(MISSING_TEXT) && words < 60))) return missingPage()

  const login = count(
    wasSentElsewhere && LOGIN_ADDRESS.test(pathOf(facts.finalUrl)),
    LOGIN_TITLE.test(title),
    says(LOGIN_TEXT),
    PASSWORD_FIELD.test(markup) && words < 100,
    facts.status === 401 || facts.status === 402,
  )
  if (login >= 2) return loginNeeded()

  const consents = new Set(shown.match(COOKIE_TEXT)?.map((text) => text.toLowerCase())).size
  const cookie = count(
    COOKIE_ADDRESS.test(hostAndPath(facts.finalUrl)) && wasSentElsewhere,
    COOKIE_TITLE.test(title),
    consents >= 2,
  )
  if (cookie >= 2 && words < 200) return cookieWall()
  return null
}

function count(...signs: boolean[]): number {
  return signs.filter(Boolean).length
}

/** Words of the page, enough for phrases, not for reading. */
function visibleText(markup: string): string {
  return markup
    .replace(/<script[^]*?(?:<\/script>|$)/g, ' ')
    .replace(/<[^>]*>/g, ' ')
    .replace(/&(?:rsquo|#39|#x27|#8217);/g, '’')
    .replace(/&nbsp;/g, ' ')
    .replace(/\s+/g, ' ')
}

function pathOf(url: string): string {
  return URL.canParse(url) ? new URL(url).pathname.replace(/\/$/, '') : url
}

function hostAndPath(url: string): string {
  return URL.canParse(url) ? `${new URL(url).hostname}${new URL(url).pathname}` : url
}

function isFrontPage({ finalUrl, url }: WallFacts): boolean {
  return pathOf(finalUrl) === '' && pathOf(url) !== ''
}

const FROM_BROWSER =
  'Open it in a browser, save the page there and give the file: `commonplace add page.html`.'

function challenged(): Failure {
  return new Failure('page_refused', 'The site shows a check for robots instead of the page.', {
    hint: FROM_BROWSER,
  })
}

function cookieWall(): Failure {
  return new Failure('page_refused', 'The site shows a question about cookies instead of the page.', {
    hint: FROM_BROWSER,
  })
}

function missingPage(): Failure {
  return new Failure('page_not_found', 'The site says that it has no page at this address.', {
    hint: 'Check the address; if the page has moved, give the new one.',
  })
}

function loginNeeded(): Failure {
  return new Failure('login_required', 'The site shows a login instead of the page.', {
    hint: `Log in with a browser. ${FROM_BROWSER}`,
  })
}
