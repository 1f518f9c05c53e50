import { shortForms } from '../short.ts'

shortForms(['files/bodies', 'files/corpus', 'files/forms', 'files/links', 'files/uploads'])
